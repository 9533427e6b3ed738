import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.Base64;
import java.util.HexFormat;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Signs requests and sends them: v1 under /v1, call of the white-label interface. Java 17 or newer, no packages. */
public final class Cloverleaf {
    private static final HttpClient HTTP = HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(10)).build();

    /** Answers the reply as text, for the JSON library of your choice. A GET has no body: it is signed over {}. */
    public static String call(String method, String path, String body) throws Exception {
        String signed = "{\"body\":" + (method.equals("GET") ? "{}" : body)
            + ",\"timestamp\":\"" + System.currentTimeMillis() + "\"}";
        String payload = Base64.getEncoder().encodeToString(signed.getBytes(StandardCharsets.UTF_8));
        HttpRequest request = HttpRequest.newBuilder(URI.create(System.getenv("CLOVERLEAF_URL") + path))
            .timeout(Duration.ofSeconds(30))
            .header("content-type", "application/json")
            .header("apiKey", System.getenv("CLOVERLEAF_KEY"))
            .header("payload", payload)
            .header("signature", hmac(payload))
            .method(method, method.equals("GET")
                ? HttpRequest.BodyPublishers.noBody()
                : HttpRequest.BodyPublishers.ofString(body))
            .build();
        HttpResponse<String> response = HTTP.send(request, HttpResponse.BodyHandlers.ofString());
        if (response.statusCode() != 200) throw new IllegalStateException(path + ": " + response.body());
        return response.body();
    }

    public static String v1(String method, String path, String body) throws Exception {
        return v1(method, path, body, UUID.randomUUID().toString());
    }

    /** Repeat a write with the key of the first time: it takes effect once. An empty body is none. */
    public static String v1(String method, String path, String body, String idempotencyKey) throws Exception {
        String key = System.getenv("CLOVERLEAF_KEY");
        String token = HexFormat.of().formatHex(mac("cloverleaf bearer " + key));
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(System.getenv("CLOVERLEAF_URL") + path))
            .timeout(Duration.ofSeconds(30))
            .header("authorization", "Bearer " + key + "." + token);
        if (method.equals("GET")) {
            request.GET();
        } else {
            byte[] hash = MessageDigest.getInstance("SHA-256").digest(body.getBytes(StandardCharsets.UTF_8));
            String digest = "sha-256=:" + Base64.getEncoder().encodeToString(hash) + ":";
            String params = "(\"@method\" \"@path\" \"content-digest\" \"idempotency-key\");created="
                + System.currentTimeMillis() / 1000 + ";keyid=\"" + key + "\";alg=\"hmac-sha256\"";
            String signed = "\"@method\": " + method + "\n\"@path\": " + path + "\n\"content-digest\": " + digest
                + "\n\"idempotency-key\": " + idempotencyKey + "\n\"@signature-params\": " + params;
            if (!body.isEmpty()) request.header("content-type", "application/json");
            request.header("idempotency-key", idempotencyKey)
                .header("content-digest", digest)
                .header("signature-input", "sig=" + params)
                .header("signature", "sig=:" + Base64.getEncoder().encodeToString(mac(signed)) + ":")
                .method(method, body.isEmpty()
                    ? HttpRequest.BodyPublishers.noBody()
                    : HttpRequest.BodyPublishers.ofString(body));
        }
        HttpResponse<String> response = HTTP.send(request.build(), HttpResponse.BodyHandlers.ofString());
        if (response.statusCode() >= 400) throw new IllegalStateException(path + ": " + response.body());
        return response.body();
    }

    private static byte[] mac(String text) throws Exception {
        byte[] secret = System.getenv("CLOVERLEAF_SECRET").getBytes(StandardCharsets.UTF_8);
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(secret, "HmacSHA256"));
        return mac.doFinal(text.getBytes(StandardCharsets.UTF_8));
    }

    /** HMAC-SHA512 under the secret of the key, in lower-case hex. */
    static String hmac(String text) throws Exception {
        byte[] secret = System.getenv("CLOVERLEAF_SECRET").getBytes(StandardCharsets.UTF_8);
        Mac mac = Mac.getInstance("HmacSHA512");
        mac.init(new SecretKeySpec(secret, "HmacSHA512"));
        return HexFormat.of().formatHex(mac.doFinal(text.getBytes(StandardCharsets.UTF_8)));
    }

    /** A JSON object of names and texts. A program of yours writes JSON with a library. */
    static String json(String... pairs) {
        StringBuilder text = new StringBuilder("{");
        for (int at = 0; at < pairs.length; at += 2)
            text.append(at == 0 ? "\"" : ",\"").append(pairs[at]).append("\":\"").append(pairs[at + 1]).append("\"");
        return text.append("}").toString();
    }

    /** The first text or number of a name in a reply. A program of yours reads JSON with a library. */
    static String field(String json, String name) {
        Matcher found = Pattern.compile("\"" + name + "\":\"?([^\",}]*)").matcher(json);
        return found.find() ? found.group(1) : "";
    }
}
