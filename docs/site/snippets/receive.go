package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// An event in either format.
type event struct {
	ID       string `json:"id"` // standard
	Type     string `json:"type"`
	Subject  string `json:"subject"`
	Sequence int64  `json:"sequence"`

	ReferenceID json.Number `json:"referenceId"` // whitelabel
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
	seen   = map[string]int{}
	newest = map[string]int64{}
)

// Format standard, of /v1: the signature covers id, time and body, under the secret of the endpoint.
func isStandard(header http.Header, body []byte) bool {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(os.Getenv("WEBHOOK_SECRET"), "whsec_"))
	at, malformed := strconv.ParseInt(header.Get("webhook-timestamp"), 10, 64)
	if age := time.Now().Unix() - at; err != nil || malformed != nil || len(key) == 0 || age > 300 || age < -300 {
		return false
	}
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%d.%s", header.Get("webhook-id"), at, body)
	expected := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	for _, one := range strings.Split(header.Get("webhook-signature"), " ") { // two while the secret is rotated
		if hmac.Equal([]byte(one), []byte(expected)) {
			return true
		}
	}
	return false
}

// Format whitelabel: the signature covers the text of the header, which is base64 of the body, under the secret of your key.
func isWhitelabel(header http.Header, body []byte) bool {
	payload, key := header.Get("x-onramp-payload"), os.Getenv("CLOVERLEAF_SECRET")
	mac := hmac.New(sha512.New, []byte(key))
	mac.Write([]byte(payload))
	given, err := hex.DecodeString(header.Get("x-onramp-signature"))
	return err == nil && key != "" && hmac.Equal(given, mac.Sum(nil)) && payload == base64.StdEncoding.EncodeToString(body)
}

func take(e event) string {
	lock.Lock()
	defer lock.Unlock()
	id, sequence, subject, says := e.ID, e.Sequence, e.Subject, e.Type
	if e.Metadata.EventID != 0 { // whitelabel
		id, sequence, subject = strconv.FormatInt(e.Metadata.EventID, 10), e.Metadata.Sequence, e.ReferenceID.String()
		says = e.EventType + " " + e.Status
		if subject == "" {
			subject = e.Metadata.CustomerID
		}
	}
	seen[id]++
	if seen[id] > 1 {
		return "duplicate " + id
	}
	if sequence < newest[subject] {
		return "older " + id
	}
	newest[subject] = sequence
	return "new " + says // here your program does its work
}

// Receives webhooks: checks the signature, drops duplicates and what is older than what it knows.
func main() {
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
		var e event
		isGenuine := isWhitelabel
		if r.Header.Get("webhook-signature") != "" {
			isGenuine = isStandard
		}
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
