/** A second of work for recordings: one method burns time, one allocates, two threads meet at a lock. */
public class Small {
  private static final Object LOCK = new Object();
  private static volatile Object kept;
  private static volatile long sum;

  static void burn(int depth) {
    if (depth > 0) {
      burn(depth - 1);
      return;
    }
    long x = 1;
    for (int i = 0; i < 1_000_000; i++) {
      x = x * 6364136223846793005L + i;
    }
    sum = x;
  }

  static void allocate() {
    for (int i = 0; i < 200; i++) {
      kept = new byte[4000 + 100 * (i % 7)];
    }
  }

  static void meet() throws InterruptedException {
    synchronized (LOCK) {
      Thread.sleep(25);
    }
  }

  public static void main(String[] arguments) throws Exception {
    long end = System.currentTimeMillis() + 1500;
    Thread[] threads = new Thread[2];
    for (int i = 0; i < threads.length; i++) {
      boolean burns = i == 0;
      threads[i] = new Thread(() -> {
        try {
          while (System.currentTimeMillis() < end) {
            if (burns) {
              burn(8);
            } else {
              allocate();
            }
            meet();
          }
        } catch (InterruptedException e) {
          throw new IllegalStateException(e);
        }
      }, burns ? "burner" : "allocator-\u00fc");
      threads[i].start();
    }
    for (Thread thread : threads) {
      thread.join();
    }
  }
}
