<?php
// Judges the requests of `requests.jsonl` with the manual's `receiver.php`: prints 1 or 0 for each.
require 'receiver.php';
foreach (file('requests.jsonl') as $line) {
    $request = json_decode($line, true);
    echo is_genuine($request['secret'], $request['headers'], base64_decode($request['body'])) ? '1' : '0';
}
