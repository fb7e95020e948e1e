# Judges the requests of `requests.jsonl` with the manual's `receiver.rb`: prints 1 or 0 for each.
require "json"
require "./receiver"

File.foreach("requests.jsonl", encoding: "UTF-8") do |line|
  request = JSON.parse(line)
  print genuine?(request["secret"], request["headers"], request["body"].unpack1("m")) ? "1" : "0"
end
