import java.util.UUID;

/** Buys 50 USDC for rupees: a customer, a wallet, a quote for the amount received, an order, and its state to the end. */
public final class Buy {
    public static void main(String[] args) throws Exception {
        String customer = post("/v1/customers",
            "reference", UUID.randomUUID().toString(),
            "kind", "individual",
            "phone", "+91-9" + String.valueOf(System.nanoTime()).substring(0, 9));
        Cloverleaf.call("POST", "/onramp/api/v2/whiteLabel/test/changeKycStatus",
            Cloverleaf.json("customerId", customer, "status", "BASIC_KYC_COMPLETED"));
        String wallet = post("/v1/customers/" + customer + "/destinations",
            "kind", "address", "chain", "matic20", "address", "0x90f79bf6eb2c4f870365e785982e1f101e93b906");

        // The amount received is fixed here; payAmount fixes the other side.
        String quote = post("/v1/quotes", "payAsset", "inr", "receiveAsset", "usdc.matic20", "receiveAmount", "50");
        String order = Cloverleaf.v1("POST", "/v1/orders",
            Cloverleaf.json("quoteId", quote, "customerId", customer, "destinationId", wallet));
        String id = Cloverleaf.field(order, "id");
        String reference = Cloverleaf.field(order.substring(order.indexOf("\"payment\"")), "reference");
        System.out.println("order " + id + ": transfer " + Cloverleaf.field(order, "amount")
            + " INR with the reference " + reference);

        // The sandbox's customer pays: a bank transfer that carries the reference.
        Cloverleaf.call("POST", "/sandbox/v1/pay", Cloverleaf.json("transactionId", id));
        while (!Cloverleaf.field(Cloverleaf.v1("GET", "/v1/orders/" + id, ""), "state").equals("settled"))
            Thread.sleep(1000);
        System.out.println("settled: 50 USDC are at the address");
    }

    /** Answers the id of what was made. */
    private static String post(String path, String... pairs) throws Exception {
        return Cloverleaf.field(Cloverleaf.v1("POST", path, Cloverleaf.json(pairs)), "id");
    }
}
