import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.OffsetDateTime;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Executors;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The partner lookup interface over PostgreSQL, in the JDK's own HTTP server and JDBC (Java 17).
 *
 * <pre>java -cp /usr/share/java/postgresql.jar Server.java 8080</pre>
 *
 * libpq's variables (PGHOST, PGPORT, PGUSER, PGPASSWORD, PGDATABASE) choose the database. docs/provide-data.md shows how
 * to fill it.
 */
public final class Server {
  // Only the form 8-4-4-4-12, in any letter case. A user_id has version 4, a reference_id any version.
  static final Pattern USER_ID = uuid("4");
  static final Pattern REFERENCE_ID = uuid("[1-8]");

  static Pattern uuid(String version) {
    String form = "[0-9a-f]{8}-[0-9a-f]{4}-" + version + "[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}";
    return Pattern.compile(form, Pattern.CASE_INSENSITIVE);
  }

  // The table holds only the SHA-256 of keys, so nobody can use a copy of it to call the service.
  static final String PARTNER_OF_KEY =
      "SELECT partner FROM api_keys WHERE key_sha256 = ? AND state = 'active' AND partner IS NOT NULL";
  // The query itself selects by partner, so data of other partners is never read.
  static final String MEMBER = "SELECT date_joined FROM users WHERE user_id = ?::uuid AND partner = ?";
  static final String EXECUTED_DEPOSIT =
      "SELECT deposits.amount_in_usd, deposits.executed_at FROM deposits JOIN users USING (user_id)"
          + " WHERE deposits.reference_id = ?::uuid AND users.partner = ? AND deposits.state = 'EXECUTED'";

  /** Status, body as JSON, and Retry-After in seconds, or 0 for none. */
  record Answer(int status, String body, long retryAfter) {
    static Answer of(int status, String body) {
      return new Answer(status, body, 0);
    }

    /** The messages are constants that need no escaping in JSON. */
    static Answer error(int status, String message) {
      return of(status, "{\"error\":\"" + message + "\"}");
    }

    static Answer tooMany(long waitNanos, String message) {
      long seconds = (waitNanos + 999_999_999L) / 1_000_000_000L;
      return new Answer(429, error(429, message).body, seconds);
    }
  }

  /** Reads the first row. Not called if there is none. */
  interface Reading<Result> {
    Result of(ResultSet row) throws SQLException;
  }

  /**
   * A fixed number of database connections, each lent to one request at a time. A lost connection is not replaced. A real
   * service would use the pool of its framework.
   */
  static final class Connections {
    private final BlockingQueue<Connection> idle;

    Connections(int size) throws SQLException {
      idle = new ArrayBlockingQueue<>(size);
      String url =
          "jdbc:postgresql://" + env("PGHOST", "localhost") + ":" + env("PGPORT", "5432") + "/" + env("PGDATABASE", "");
      String user = env("PGUSER", System.getProperty("user.name"));
      for (int nth = 0; nth < size; nth++) idle.add(DriverManager.getConnection(url, user, env("PGPASSWORD", "")));
    }

    /** The first row of a query, or null. */
    <Result> Result row(Reading<Result> reading, String query, String... values)
        throws SQLException, InterruptedException {
      Connection connection = idle.take();
      try (PreparedStatement statement = connection.prepareStatement(query)) {
        for (int nth = 0; nth < values.length; nth++) statement.setString(nth + 1, values[nth]);
        try (ResultSet rows = statement.executeQuery()) {
          return rows.next() ? reading.of(rows) : null;
        }
      } finally {
        idle.add(connection);
      }
    }

    private static String env(String name, String otherwise) {
      return System.getenv().getOrDefault(name, otherwise);
    }
  }

  /** A fixed window for each key. It begins with the first counted request. */
  static final class Limiter {
    private record Window(long endsAt, int count) {}

    private final int most;
    private final long nanos;
    private final Map<String, Window> windows = new HashMap<>();

    Limiter(int most, int seconds) {
      this.most = most;
      this.nanos = seconds * 1_000_000_000L;
    }

    /**
     * Nanoseconds until the key is accepted again. If it is 0, the request is accepted. The lock covers the check and the
     * count, so that simultaneous requests cannot exceed the limit.
     */
    synchronized long wait(String key, boolean counts) {
      long now = System.nanoTime();
      Window window = windows.get(key);
      if (window == null || now - window.endsAt >= 0) window = new Window(now + nanos, 0);
      if (window.count >= most) return window.endsAt - now;
      if (counts) windows.put(key, new Window(window.endsAt, window.count + 1));
      return 0;
    }
  }

  // The same as "limits" in the fixture.
  static final Limiter FAILED_LOOKUPS = new Limiter(60, 3);
  static final Limiter DEPOSIT_CHECKS = new Limiter(250, 3);

  static Answer userStatus(Connections database, String partner, String key, String userId) throws Exception {
    boolean isValid = userId != null && USER_ID.matcher(userId).matches();
    OffsetDateTime dateJoined =
        isValid ? database.row(row -> row.getObject(1, OffsetDateTime.class), MEMBER, userId, partner) : null;
    // Only failed lookups count: an invalid id, or a user who is not under the IB.
    long wait = FAILED_LOOKUPS.wait(key, dateJoined == null);
    if (wait > 0) return Answer.tooMany(wait, "Too many failed lookups. Please try again later.");
    if (!isValid) return Answer.error(400, "Invalid user_id format");
    if (dateJoined == null) return Answer.of(200, "{\"is_under_ib\":false,\"date_joined\":null}");
    // An Instant prints as UTC, with a Z.
    return Answer.of(200, "{\"is_under_ib\":true,\"date_joined\":\"" + dateJoined.toInstant() + "\"}");
  }

  static Answer depositCheck(Connections database, String partner, String key, String referenceId) throws Exception {
    long wait = DEPOSIT_CHECKS.wait(key, true);
    if (wait > 0) return Answer.tooMany(wait, "TOO_MANY_REQUESTS");
    if (referenceId == null || !REFERENCE_ID.matcher(referenceId).matches())
      return Answer.error(400, "Invalid reference_id format");
    // The amount stays a decimal number, as in the database. A double could change it.
    String executed =
        database.row(
            row ->
                "{\"status\":\"EXECUTED\",\"amountInUsd\":%s,\"executedAt\":%d}"
                    .formatted(row.getBigDecimal(1).toPlainString(), row.getLong(2)),
            EXECUTED_DEPOSIT,
            referenceId,
            partner);
    // Unknown, of another IB, pending or failed: the same bytes, so that a caller cannot tell them apart.
    return executed == null ? Answer.error(404, "Deposit not found") : Answer.of(200, executed);
  }

  interface Lookup {
    Answer of(Connections database, String partner, String key, String value) throws Exception;
  }

  /** The parameter, the message of a 401 (they differ), and the function that answers. */
  record Endpoint(String parameter, String unauthorized, Lookup lookup) {}

  static final Map<String, Endpoint> ENDPOINTS =
      Map.of(
          "/api/ib/user-status", new Endpoint("user_id", "Unauthorized", Server::userStatus),
          "/api/ib/deposit-check", new Endpoint("reference_id", "UNAUTHORIZED", Server::depositCheck));

  static final Pattern BEARER = Pattern.compile("Bearer ([!-~]+)");

  static Answer respond(Connections database, HttpExchange exchange) throws Exception {
    Endpoint endpoint = ENDPOINTS.get(exchange.getRequestURI().getRawPath());
    if (endpoint == null) return Answer.error(404, "Not found");
    if (!exchange.getRequestMethod().matches("GET|HEAD")) return Answer.error(405, "Method not allowed");
    String authorization = exchange.getRequestHeaders().getFirst("Authorization");
    Matcher bearer = BEARER.matcher(authorization == null ? "" : authorization);
    String key = bearer.matches() ? sha256(bearer.group(1)) : null;
    String partner = key == null ? null : database.row(row -> row.getString(1), PARTNER_OF_KEY, key);
    if (partner == null) return Answer.error(401, endpoint.unauthorized);
    String value = parameter(exchange.getRequestURI().getRawQuery(), endpoint.parameter);
    return endpoint.lookup.of(database, partner, key, value);
  }

  /** The first value of a query parameter. Null if there is none, or if it cannot be decoded. */
  static String parameter(String query, String name) {
    if (query == null) return null;
    for (String pair : query.split("&")) {
      String[] parts = pair.split("=", 2);
      if (parts.length == 2 && name.equals(decoded(parts[0]))) return decoded(parts[1]);
    }
    return null;
  }

  static String decoded(String text) {
    try {
      return URLDecoder.decode(text, StandardCharsets.UTF_8);
    } catch (IllegalArgumentException brokenPercentEncoding) {
      return null;
    }
  }

  static String sha256(String text) throws NoSuchAlgorithmException {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
  }

  static void handle(Connections database, HttpExchange exchange) throws IOException {
    Answer answer;
    try {
      answer = respond(database, exchange);
    } catch (Exception error) {
      error.printStackTrace();
      answer = Answer.error(500, "Internal server error");
    }
    var fields = exchange.getResponseHeaders();
    fields.set("Content-Type", "application/json");
    fields.set("Cache-Control", "no-store");
    if (answer.status == 401) fields.set("WWW-Authenticate", "Bearer");
    if (answer.status == 405) fields.set("Allow", "GET, HEAD");
    if (answer.retryAfter > 0) fields.set("Retry-After", Long.toString(answer.retryAfter));
    byte[] content = answer.body.getBytes(StandardCharsets.UTF_8);
    boolean isHead = exchange.getRequestMethod().equals("HEAD");
    try (exchange) {
      exchange.sendResponseHeaders(answer.status, isHead ? -1 : content.length);
      if (!isHead) exchange.getResponseBody().write(content);
    }
  }

  public static void main(String[] args) throws Exception {
    // Head and body are two packets. The body would otherwise wait 40 ms for an acknowledgement.
    System.setProperty("sun.net.httpserver.nodelay", "true");
    Connections database = new Connections(16);
    HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(args[0])), 128);
    server.setExecutor(Executors.newFixedThreadPool(64));
    server.createContext("/", exchange -> handle(database, exchange));
    server.start();
    System.out.println("listening on http://127.0.0.1:" + server.getAddress().getPort());
  }
}
