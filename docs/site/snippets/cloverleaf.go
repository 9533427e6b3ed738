package main

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"time"
)

var client = &http.Client{Timeout: 30 * time.Second}

// call signs a request, sends it and answers its data. Go 1.19 or newer, no modules.
func call(method, path string, body map[string]any) (any, error) {
	if body == nil || method == "GET" {
		body = map[string]any{} // a GET has no body: it is signed over {}
	}
	sent, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	timestamp := strconv.FormatInt(time.Now().UnixMilli(), 10)
	payload := base64.StdEncoding.EncodeToString([]byte(`{"body":` + string(sent) + `,"timestamp":"` + timestamp + `"}`))
	mac := hmac.New(sha512.New, []byte(os.Getenv("CLOVERLEAF_SECRET")))
	mac.Write([]byte(payload))
	if method == "GET" {
		sent = nil
	}
	request, err := http.NewRequest(method, os.Getenv("CLOVERLEAF_URL")+path, bytes.NewReader(sent))
	if err != nil {
		return nil, err
	}
	request.Header.Set("content-type", "application/json")
	request.Header.Set("apiKey", os.Getenv("CLOVERLEAF_KEY"))
	request.Header.Set("payload", payload)
	request.Header.Set("signature", hex.EncodeToString(mac.Sum(nil)))
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	var reply struct {
		Status int
		Code   int
		Reason string
		Error  string
		Data   any
	}
	if err := json.NewDecoder(response.Body).Decode(&reply); err != nil {
		return nil, err
	}
	if reply.Status != 1 {
		return nil, fmt.Errorf("%s: %d %s: %s", path, reply.Code, reply.Reason, reply.Error)
	}
	return reply.Data, nil
}
