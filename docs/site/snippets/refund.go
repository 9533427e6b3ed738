package main

import (
	"fmt"
	"log"
	"strconv"
	"time"
)

func must[T any](data T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return data
}

// becomes asks for the order until a field of it has the value.
func becomes(path, field, value string) map[string]any {
	for {
		order := must(v1("GET", path, nil))
		if order[field] == value {
			return order
		}
		time.Sleep(time.Second)
	}
}

// A sale of 100 USDC that is paid with 50 alone: its deadline passes, and what came goes back to the customer.
func main() {
	now := strconv.FormatInt(time.Now().UnixNano(), 10)
	customer := must(v1("POST", "/v1/customers", map[string]any{
		"reference": "go-" + now, "kind": "individual", "phone": "+91-9" + now[7:16],
	}))["id"]
	must(call("POST", "/onramp/api/v2/whiteLabel/test/changeKycStatus", map[string]any{
		"customerId": customer, "status": "BASIC_KYC_COMPLETED",
	}))
	destinations := fmt.Sprintf("/v1/customers/%v/destinations", customer)
	account := must(v1("POST", destinations, map[string]any{
		"kind": "account", "asset": "inr", "accountNumber": "000111222333", "ifsc": "HDFC0000001",
	}))["id"]
	wallet := must(v1("POST", destinations, map[string]any{
		"kind": "address", "chain": "matic20", "address": "0x90f79bf6eb2c4f870365e785982e1f101e93b906",
	}))["id"]
	quote := must(v1("POST", "/v1/quotes", map[string]any{
		"payAsset": "usdc.matic20", "receiveAsset": "inr", "payAmount": "100",
	}))
	id := must(v1("POST", "/v1/orders", map[string]any{
		"quoteId": quote["id"], "customerId": customer, "destinationId": account,
	}))["id"]
	path := fmt.Sprintf("/v1/orders/%v", id)

	// The sandbox's customer pays half.
	must(call("POST", "/sandbox/v1/pay", map[string]any{"transactionId": id, "how": "under"}))
	received := becomes(path, "reason", "underpaid")["received"].(map[string]any)
	fmt.Printf("order %v: %v of 100 USDC came; the rest may come until its deadline\n", id, received["amount"])

	// Nothing more comes. The sandbox's clock brings the deadline nearer; then the order is on hold, and its money may go back.
	must(call("POST", "/sandbox/v1/clock", map[string]any{"advance": "2h"}))
	becomes(path, "state", "on_hold")
	must(v1("POST", path+"/refund", map[string]any{"destinationId": wallet}))
	becomes(path, "state", "refunded")
	refund := must(v1("GET", path+"/refunds", nil))["data"].([]any)[0].(map[string]any)
	amount := refund["amount"].(map[string]any)
	fmt.Printf("refunded: %v USDC are back by the transfer %v\n", amount["amount"], refund["hash"])
}
