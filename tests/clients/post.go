// Go's mime/multipart and net/http: URL VALUES FILE; prints the answer.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

func must[T any](value T, err error) T {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return value
}

func main() {
	url, values, file := os.Args[1], os.Args[2], os.Args[3]
	var pairs [][2]string
	if err := json.Unmarshal(must(os.ReadFile(values)), &pairs); err != nil {
		panic(err)
	}
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for _, pair := range pairs {
		must(0, form.WriteField(pair[0], pair[1]))
	}
	must(must(form.CreateFormFile("file", filepath.Base(file))).Write(must(os.ReadFile(file))))
	must(0, form.Close())
	client := http.Client{Timeout: 30 * time.Second}
	answer := must(client.Post(url, form.FormDataContentType(), &body))
	fmt.Println(string(must(io.ReadAll(answer.Body))))
}
