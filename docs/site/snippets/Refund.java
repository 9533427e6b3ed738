import java.util.UUID;

/** A sale of 100 USDC that is paid with 50 alone: its deadline passes, and what came goes back to the customer. */
public final class Refund {
    public static void main(String[] args) throws Exception {
        String customer = post("/v1/customers",
            "reference", UUID.randomUUID().toString(),
            "kind", "individual",
            "phone", "+91-9" + String.valueOf(System.nanoTime()).substring(0, 9));
        Cloverleaf.call("POST", "/onramp/api/v2/whiteLabel/test/changeKycStatus",
            Cloverleaf.json("customerId", customer, "status", "BASIC_KYC_COMPLETED"));
        String account = post("/v1/customers/" + customer + "/destinations",
            "kind", "account", "asset", "inr", "accountNumber", "000111222333", "ifsc", "HDFC0000001");
        String wallet = post("/v1/customers/" + customer + "/destinations",
            "kind", "address", "chain", "matic20", "address", "0x90f79bf6eb2c4f870365e785982e1f101e93b906");
        String quote = post("/v1/quotes", "payAsset", "usdc.matic20", "receiveAsset", "inr", "payAmount", "100");
        String id = post("/v1/orders", "quoteId", quote, "customerId", customer, "destinationId", account);

        // The sandbox's customer pays half.
        Cloverleaf.call("POST", "/sandbox/v1/pay", Cloverleaf.json("transactionId", id, "how", "under"));
        String order = becomes(id, "reason", "underpaid");
        System.out.println("order " + id + ": "
            + Cloverleaf.field(order.substring(order.indexOf("\"received\"")), "amount")
            + " of 100 USDC came; the rest may come until its deadline");

        // Nothing more comes. The sandbox's clock brings the deadline nearer; then the order is on hold, and its money
        // may go back.
        Cloverleaf.call("POST", "/sandbox/v1/clock", Cloverleaf.json("advance", "2h"));
        becomes(id, "state", "on_hold");
        post("/v1/orders/" + id + "/refund", "destinationId", wallet);
        becomes(id, "state", "refunded");
        String refund = Cloverleaf.v1("GET", "/v1/orders/" + id + "/refunds", "");
        System.out.println("refunded: " + Cloverleaf.field(refund.substring(refund.indexOf("{\"amount\"")), "amount")
            + " USDC are back by the transfer " + Cloverleaf.field(refund, "hash"));
    }

    /** Asks for the order until a field of it has the value. */
    private static String becomes(String id, String field, String value) throws Exception {
        for (;;) {
            String order = Cloverleaf.v1("GET", "/v1/orders/" + id, "");
            if (Cloverleaf.field(order, field).equals(value)) return order;
            Thread.sleep(1000);
        }
    }

    /** Answers the id of what was made. */
    private static String post(String path, String... pairs) throws Exception {
        return Cloverleaf.field(Cloverleaf.v1("POST", path, Cloverleaf.json(pairs)), "id");
    }
}
