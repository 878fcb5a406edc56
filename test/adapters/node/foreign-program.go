// The client and the reverse proxy of Go's net/http, as the tests run them.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"strconv"
)

// Sends uploads one after the other, each of so many bytes, and prints the statuses; 0 where there was no response.
func upload(target string, count int, size int) {
	statuses := []int{}
	for i := 0; i < count; i++ {
		response, err := http.Post(target, "application/octet-stream", bytes.NewReader(make([]byte, size)))
		if err != nil {
			statuses = append(statuses, 0)
			continue
		}
		io.Copy(io.Discard, response.Body)
		response.Body.Close()
		statuses = append(statuses, response.StatusCode)
	}
	text, _ := json.Marshal(statuses)
	fmt.Println(string(text))
}

// Proxies to the target, prints its port, and ends with its input.
func proxy(target string) {
	to, _ := url.Parse(target)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	go http.Serve(listener, httputil.NewSingleHostReverseProxy(to))
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	io.Copy(io.Discard, os.Stdin)
}

func main() {
	if os.Args[1] == "proxy" {
		proxy(os.Args[2])
		return
	}
	count, _ := strconv.Atoi(os.Args[3])
	size, _ := strconv.Atoi(os.Args[4])
	upload(os.Args[2], count, size)
}
