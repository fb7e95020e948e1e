<?php
// PHP's curl: URL VALUES FILE; prints the answer. A list as value is sent as `name[0]`, `name[1]`.
[, $url, $values, $file] = $argv;
$fields = [];
foreach (json_decode(file_get_contents($values), true, 512, JSON_THROW_ON_ERROR) as [$name, $value]) {
    $fields[$name][] = $value;
}
foreach ($fields as $name => $all) {
    $fields[$name] = count($all) === 1 ? $all[0] : $all;
}
$fields['file'] = new CURLFile($file, 'application/pdf', basename($file));
$call = curl_init($url);
curl_setopt_array($call, [CURLOPT_POSTFIELDS => $fields, CURLOPT_RETURNTRANSFER => true, CURLOPT_TIMEOUT => 30]);
$answer = curl_exec($call);
echo $answer === false ? curl_error($call) : $answer, "\n";
