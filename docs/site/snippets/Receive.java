import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Receives webhooks: checks the signature, drops duplicates and what is older than what it knows. */
public final class Receive {
    /** In your program: a table with the event's id as its key, and a column beside the order. */
    private static final Set<String> SEEN = new HashSet<>();
    private static final Map<String, Long> NEWEST = new HashMap<>();

    public static void main(String[] args) throws IOException {
        int port = Integer.parseInt(System.getenv().getOrDefault("PORT", "8000"));
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", port), 0);
        server.createContext("/", Receive::answer);
        server.start();
        System.out.println("listening");
    }

    private static synchronized void answer(HttpExchange exchange) throws IOException {
        byte[] body = exchange.getRequestBody().readAllBytes();
        boolean isStandard = !header(exchange, "webhook-signature").isEmpty();
        boolean isOurs = isStandard ? isStandard(exchange, body) : isWhitelabel(exchange, body);
        System.out.println(isOurs ? take(new String(body, StandardCharsets.UTF_8)) : "wrong signature");
        exchange.sendResponseHeaders(isOurs ? 200 : 401, -1);
        exchange.close();
    }

    /** Format standard, of /v1: the signature covers id, time and body, under the secret of the endpoint. */
    private static boolean isStandard(HttpExchange exchange, byte[] body) throws IOException {
        String secret = System.getenv().getOrDefault("WEBHOOK_SECRET", "");
        String at = header(exchange, "webhook-timestamp");
        if (secret.isEmpty() || !at.matches("[0-9]{1,12}")) return false;
        if (Math.abs(System.currentTimeMillis() / 1000 - Long.parseLong(at)) > 300) return false;
        byte[] signature;
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(Base64.getDecoder().decode(secret.replace("whsec_", "")), "HmacSHA256"));
            mac.update((header(exchange, "webhook-id") + "." + at + ".").getBytes(StandardCharsets.UTF_8));
            signature = mac.doFinal(body);
        } catch (GeneralSecurityException error) {
            throw new IOException(error);
        }
        byte[] expected = ("v1," + Base64.getEncoder().encodeToString(signature)).getBytes(StandardCharsets.UTF_8);
        // Two while the secret is rotated.
        for (String one : header(exchange, "webhook-signature").split(" "))
            if (MessageDigest.isEqual(expected, one.getBytes(StandardCharsets.UTF_8))) return true;
        return false;
    }

    /** Format whitelabel: the signature covers the text of the header, which is base64 of the body, under the secret of your key. */
    private static boolean isWhitelabel(HttpExchange exchange, byte[] body) throws IOException {
        String payload = header(exchange, "x-onramp-payload");
        String expected;
        try {
            expected = Cloverleaf.hmac(payload);
        } catch (Exception error) {
            throw new IOException(error);
        }
        boolean isSigned = MessageDigest.isEqual(expected.getBytes(), header(exchange, "x-onramp-signature").getBytes());
        return isSigned && payload.equals(Base64.getEncoder().encodeToString(body));
    }

    private static String header(HttpExchange exchange, String name) {
        String value = exchange.getRequestHeaders().getFirst(name);
        return value == null ? "" : value;
    }

    private static String take(String event) {
        boolean isStandard = !event.contains("\"metadata\"");
        String id = Cloverleaf.field(event, isStandard ? "id" : "eventId");
        if (!SEEN.add(id)) return "duplicate " + id;
        String order = Cloverleaf.field(event, isStandard ? "subject" : "referenceId");
        String subject = order.isEmpty() ? Cloverleaf.field(event, "customerId") : order;
        long sequence = Long.parseLong(Cloverleaf.field(event, "sequence"));
        if (sequence < NEWEST.getOrDefault(subject, 0L)) return "older " + id;
        NEWEST.put(subject, sequence);
        // Here your program does its work.
        if (isStandard) return "new " + Cloverleaf.field(event, "type");
        return "new " + Cloverleaf.field(event, "eventType") + " " + Cloverleaf.field(event, "status");
    }
}
