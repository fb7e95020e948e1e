# Ruby's net/http: URL VALUES FILE; prints the answer.
require 'json'
require 'net/http'

url, values, file = ARGV
uri = URI(url)
document = File.open(file, 'rb')
pairs = JSON.parse(File.read(values, encoding: 'UTF-8')) << ['file', document, { content_type: 'application/pdf' }]
request = Net::HTTP::Post.new(uri)
request.set_form(pairs, 'multipart/form-data')
puts Net::HTTP.start(uri.host, uri.port, read_timeout: 30) { |http| http.request(request) }.body
