import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Allocates arrays, keeps every n-th, some of them humongous, and asks for one collection. */
public class Fill {
    private static final List<byte[]> KEPT = new ArrayList<>();

    public static void main(String[] args) throws Exception {
        int rounds = Integer.parseInt(args[0]);
        int keep = Integer.parseInt(args[1]);
        Random random = new Random(1);
        for (int i = 0; i < rounds; i++) {
            byte[] bytes = new byte[10_000 + random.nextInt(90_000)];
            if (i % keep == 0) {
                KEPT.add(bytes);
            }
            if (i % 101 == 100) {
                KEPT.add(new byte[600_000]);
            }
            if (i == rounds / 2) {
                System.gc();
                KEPT.subList(0, KEPT.size() / 2).clear();
            }
        }
        System.out.println("kept " + KEPT.size());
    }
}
