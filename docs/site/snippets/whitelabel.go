package main

import (
	"fmt"
	"log"
	"strconv"
	"time"
)

const wl = "/onramp/api/v2/whiteLabel/"

func post(endpoint string, body map[string]any) map[string]any {
	data, err := call("POST", wl+endpoint, body)
	if err != nil {
		log.Fatal(err)
	}
	return data.(map[string]any)
}

// In the white-label interface: sells 100 USDC for rupees: a customer, a quote, an order, and its status until the money has arrived.
func main() {
	now := strconv.FormatInt(time.Now().UnixNano(), 10)
	customer := post("kyc/url", map[string]any{
		"clientCustomerId": "go-" + now,         // your own id of this customer
		"phoneNumber":      "+91-9" + now[7:16], // one phone is one customer
		"type":             "INDIVIDUAL",
	})["customerId"]
	// Only the sandbox verifies on request; elsewhere the customer opens the kycUrl of that reply.
	post("test/changeKycStatus", map[string]any{"customerId": customer, "status": "BASIC_KYC_COMPLETED"})
	account := post("bank/addFiatAccount", map[string]any{
		"customerId": customer, "fiatAccount": "000111222333", "ifsc": "HDFC0000001",
	})["fiatAccountId"]

	order := map[string]any{"fromCurrency": "usdc", "toCurrency": "INR", "chain": "matic20", "fromAmount": "100"}
	quote := post("offramp/quote", order)
	order["rate"], order["toAmount"] = quote["rate"], quote["toAmount"]
	order["customerId"], order["fiatAccountId"] = customer, account
	sale := post("offramp/createTransaction", order)
	fmt.Printf("send 100 USDC to %v, to receive %v INR\n", sale["depositAddress"], quote["toAmount"])

	// The sandbox's customer pays: a token transfer on its chain.
	id := sale["transactionId"]
	post("test/changeOfframpStatus", map[string]any{"customerId": customer, "transactionId": id, "status": "2"})
	for status := any(""); status != "6"; time.Sleep(time.Second) {
		status = post("offramp/transaction", map[string]any{"customerId": customer, "transactionId": id})["status"]
	}
	fmt.Println("status 6: paid to the bank account")
}
