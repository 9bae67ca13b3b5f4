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
 * libpq's variables (PGHOST, PGPORT, PGUSER, PGPASSWORD, PGDATABASE) say which database. docs/provide-data.md says how
 * to fill it.
 */
public final class Server {
  // One spelling, 8-4-4-4-12, in any letter case. A user_id is of version 4; a reference_id of any.
  static final Pattern USER_ID = uuid("4");
  static final Pattern REFERENCE_ID = uuid("[1-8]");

  static Pattern uuid(String version) {
    String form = "[0-9a-f]{8}-[0-9a-f]{4}-" + version + "[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}";
    return Pattern.compile(form, Pattern.CASE_INSENSITIVE);
  }

  // Keys are not stored here: only their SHA-256 is looked up, so a copy of the table lets nobody in.
  static final String PARTNER_OF_KEY =
      "SELECT partner FROM api_keys WHERE key_sha256 = ? AND state = 'active' AND partner IS NOT NULL";
  // Scoping is a condition of the query: what is another partner's is not even read.
  static final String MEMBER = "SELECT date_joined FROM users WHERE user_id = ?::uuid AND partner = ?";
  static final String EXECUTED_DEPOSIT =
      "SELECT deposits.amount_in_usd, deposits.executed_at FROM deposits JOIN users USING (user_id)"
          + " WHERE deposits.reference_id = ?::uuid AND users.partner = ? AND deposits.state = 'EXECUTED'";

  /** An answer: its status, its body as JSON, and after how many seconds to come again, or 0. */
  record Answer(int status, String body, long retryAfter) {
    static Answer of(int status, String body) {
      return new Answer(status, body, 0);
    }

    /** Messages are constants without anything that JSON would have to escape. */
    static Answer error(int status, String message) {
      return of(status, "{\"error\":\"" + message + "\"}");
    }

    static Answer tooMany(long waitNanos, String message) {
      long seconds = (waitNanos + 999_999_999L) / 1_000_000_000L;
      return new Answer(429, error(429, message).body, seconds);
    }
  }

  /** What reads the first row; it is only called where there is one. */
  interface Reading<Result> {
    Result of(ResultSet row) throws SQLException;
  }

  /**
   * A fixed number of database connections, each lent to one request at a time. One that is lost is not replaced: a
   * service would take the pool of its framework.
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

  /** So many counted requests of a partner's key in a window, which begins with the first of them. */
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
     * Nanoseconds until the key is let in again; 0 if it is let in now, and then the request is counted. One step under
     * a lock: of requests that come at once, none slips through between look and count.
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

  // As the fixture states them under "limits".
  static final Limiter FAILED_LOOKUPS = new Limiter(60, 3);
  static final Limiter DEPOSIT_CHECKS = new Limiter(250, 3);

  static Answer userStatus(Connections database, String partner, String key, String userId) throws Exception {
    boolean isValid = userId != null && USER_ID.matcher(userId).matches();
    OffsetDateTime dateJoined =
        isValid ? database.row(row -> row.getObject(1, OffsetDateTime.class), MEMBER, userId, partner) : null;
    // Only failed lookups count: an id that is none, or a user that is not under the IB.
    long wait = FAILED_LOOKUPS.wait(key, dateJoined == null);
    if (wait > 0) return Answer.tooMany(wait, "Too many failed lookups. Please try again later.");
    if (!isValid) return Answer.error(400, "Invalid user_id format");
    if (dateJoined == null) return Answer.of(200, "{\"is_under_ib\":false,\"date_joined\":null}");
    // An Instant is written in UTC, with a Z.
    return Answer.of(200, "{\"is_under_ib\":true,\"date_joined\":\"" + dateJoined.toInstant() + "\"}");
  }

  static Answer depositCheck(Connections database, String partner, String key, String referenceId) throws Exception {
    long wait = DEPOSIT_CHECKS.wait(key, true);
    if (wait > 0) return Answer.tooMany(wait, "TOO_MANY_REQUESTS");
    if (referenceId == null || !REFERENCE_ID.matcher(referenceId).matches())
      return Answer.error(400, "Invalid reference_id format");
    // The amount stays a decimal number, as the database has it: no detour by a double.
    String executed =
        database.row(
            row ->
                "{\"status\":\"EXECUTED\",\"amountInUsd\":%s,\"executedAt\":%d}"
                    .formatted(row.getBigDecimal(1).toPlainString(), row.getLong(2)),
            EXECUTED_DEPOSIT,
            referenceId,
            partner);
    // Unknown, another IB's, pending or failed: one answer, byte for byte, so that nothing tells them apart.
    return executed == null ? Answer.error(404, "Deposit not found") : Answer.of(200, executed);
  }

  interface Lookup {
    Answer of(Connections database, String partner, String key, String value) throws Exception;
  }

  /** An endpoint: its parameter, the message of its 401 (it differs), and what answers. */
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

  /** The first value of a parameter of the query; null where there is none, or none that can be decoded. */
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
    // Head and body are two packets, and the second would wait 40 ms for an acknowledgement of the first.
    System.setProperty("sun.net.httpserver.nodelay", "true");
    Connections database = new Connections(16);
    HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(args[0])), 128);
    server.setExecutor(Executors.newFixedThreadPool(64));
    server.createContext("/", exchange -> handle(database, exchange));
    server.start();
    System.out.println("listening on http://127.0.0.1:" + server.getAddress().getPort());
  }
}
