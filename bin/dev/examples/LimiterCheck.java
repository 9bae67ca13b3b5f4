import java.util.HashMap;

/** Checks that the limiter of Server uses its data only under its lock. */
final class LimiterCheck {
  static final class Watched extends HashMap<String, Object> {
    private final transient Object lock;

    Watched(Object lock) {
      this.lock = lock;
    }

    @Override
    public Object get(Object key) {
      require(Thread.holdsLock(lock));
      return super.get(key);
    }

    @Override
    public Object put(String key, Object value) {
      require(Thread.holdsLock(lock));
      return super.put(key, value);
    }
  }

  public static void main(String[] args) throws ReflectiveOperationException {
    var limiter = new Server.Limiter(1, 3600);
    var windows = Server.Limiter.class.getDeclaredField("windows");
    windows.setAccessible(true);
    windows.set(limiter, new Watched(limiter));
    require(limiter.wait("one", true) == 0);
    require(limiter.wait("one", true) > 0);
    require(limiter.wait("other", true) == 0);
    System.out.println("ok");
  }

  static void require(boolean holds) {
    if (!holds) throw new AssertionError();
  }
}
