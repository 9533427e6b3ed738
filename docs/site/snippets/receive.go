package main

import (
	"crypto/hmac"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"sync"
)

type event struct {
	ReferenceID json.Number `json:"referenceId"`
	EventType   string      `json:"eventType"`
	Status      string      `json:"status"`
	Metadata    struct {
		EventID    int64  `json:"eventId"`
		Sequence   int64  `json:"sequence"`
		CustomerID string `json:"customerId"`
	} `json:"metadata"`
}

// In your program: a table with the event's id as its key, and a column beside the order.
var (
	lock   sync.Mutex
	seen   = map[int64]int{}
	newest = map[string]int64{}
)

// The signature covers the text of the header, and the header is base64 of the body.
func isGenuine(header http.Header, body []byte) bool {
	payload := header.Get("x-onramp-payload")
	mac := hmac.New(sha512.New, []byte(os.Getenv("CLOVERLEAF_SECRET")))
	mac.Write([]byte(payload))
	given, err := hex.DecodeString(header.Get("x-onramp-signature"))
	return err == nil && hmac.Equal(given, mac.Sum(nil)) && payload == base64.StdEncoding.EncodeToString(body)
}

func take(e event) string {
	lock.Lock()
	defer lock.Unlock()
	id, subject := e.Metadata.EventID, e.ReferenceID.String()
	seen[id]++
	if seen[id] > 1 {
		return fmt.Sprint("duplicate ", id)
	}
	if subject == "" {
		subject = e.Metadata.CustomerID
	}
	if e.Metadata.Sequence < newest[subject] {
		return fmt.Sprint("older ", id)
	}
	newest[subject] = e.Metadata.Sequence
	return "new " + e.EventType + " " + e.Status // here your program does its work
}

// Receives webhooks of the format whitelabel: checks the signature, drops duplicates and what is older than what it knows.
func main() {
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
		var e event
		if err != nil || !isGenuine(r.Header, body) || json.Unmarshal(body, &e) != nil {
			fmt.Println("wrong signature")
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		fmt.Println(take(e))
	})
	port := os.Getenv("PORT")
	if port == "" {
		port = "8000"
	}
	fmt.Println("listening")
	log.Fatal(http.ListenAndServe("127.0.0.1:"+port, nil))
}
