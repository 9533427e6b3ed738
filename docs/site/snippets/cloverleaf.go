package main

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"net/http"
	"os"
	"strconv"
	"time"
)

var client = &http.Client{Timeout: 30 * time.Second}

// call is the white-label interface: it signs a request, sends it and answers its data. Go 1.19 or newer, no modules.
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
	if method == "GET" {
		sent = nil
	}
	reply, err := send(method, path, sent, map[string]string{
		"content-type": "application/json",
		"apiKey":       os.Getenv("CLOVERLEAF_KEY"),
		"payload":      payload,
		"signature":    hex.EncodeToString(mac(sha512.New, payload)),
	})
	if err != nil {
		return nil, err
	}
	return reply["data"], nil
}

// v1 does the same under /v1.
func v1(method, path string, body map[string]any) (map[string]any, error) {
	random := make([]byte, 16)
	if _, err := rand.Read(random); err != nil {
		return nil, err
	}
	return v1Keyed(method, path, body, hex.EncodeToString(random))
}

// v1Keyed repeats a write with the key of the first time: it takes effect once.
func v1Keyed(method, path string, body map[string]any, idempotencyKey string) (map[string]any, error) {
	key := os.Getenv("CLOVERLEAF_KEY")
	token := hex.EncodeToString(mac(sha256.New, "cloverleaf bearer "+key))
	headers := map[string]string{"authorization": "Bearer " + key + "." + token}
	if method == "GET" {
		return send(method, path, nil, headers)
	}
	var sent []byte
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		sent = text
		headers["content-type"] = "application/json"
	}
	hash := sha256.Sum256(sent)
	digest := "sha-256=:" + base64.StdEncoding.EncodeToString(hash[:]) + ":"
	params := fmt.Sprintf(`("@method" "@path" "content-digest" "idempotency-key");created=%d;keyid="%s";alg="hmac-sha256"`,
		time.Now().Unix(), key)
	signed := fmt.Sprintf("\"@method\": %s\n\"@path\": %s\n\"content-digest\": %s\n\"idempotency-key\": %s\n\"@signature-params\": %s",
		method, path, digest, idempotencyKey, params)
	headers["content-digest"] = digest
	headers["idempotency-key"] = idempotencyKey
	headers["signature-input"] = "sig=" + params
	headers["signature"] = "sig=:" + base64.StdEncoding.EncodeToString(mac(sha256.New, signed)) + ":"
	return send(method, path, sent, headers)
}

func mac(hash func() hash.Hash, text string) []byte {
	made := hmac.New(hash, []byte(os.Getenv("CLOVERLEAF_SECRET")))
	made.Write([]byte(text))
	return made.Sum(nil)
}

func send(method, path string, body []byte, headers map[string]string) (map[string]any, error) {
	request, err := http.NewRequest(method, os.Getenv("CLOVERLEAF_URL")+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	reply := map[string]any{}
	if err := json.NewDecoder(response.Body).Decode(&reply); err != nil && err != io.EOF {
		return nil, err
	}
	if response.StatusCode >= 400 {
		return nil, fmt.Errorf("%s: %d %v: %v %v", path, response.StatusCode, reply["reason"], reply["detail"], reply["error"])
	}
	return reply, nil
}
