// Judges the requests of `requests.jsonl` with the manual's `receiver.go`: prints 1 or 0 for each.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
)

type request struct {
	Secret  string
	Headers map[string]string
	Body    []byte
}

func main() {
	file, err := os.Open("requests.jsonl")
	if err != nil {
		panic(err)
	}
	for requests := json.NewDecoder(file); ; {
		var next request
		if err := requests.Decode(&next); err == io.EOF {
			return
		} else if err != nil {
			panic(err)
		}
		header := http.Header{}
		for name, value := range next.Headers {
			header.Set(name, value)
		}
		if genuine(next.Secret, header, next.Body) {
			fmt.Print("1")
		} else {
			fmt.Print("0")
		}
	}
}
