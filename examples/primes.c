/* Prints the prime numbers up to its argument: something to run with `twinsmith exec`. */
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    int most = argc > 1 ? atoi(argv[1]) : 100;
    for (int n = 2, first = 1; n <= most; n++) {
        int divisor = 2;
        while (divisor * divisor <= n && n % divisor != 0) divisor++;
        if (divisor * divisor > n) {
            printf(first ? "%d" : " %d", n);
            first = 0;
        }
    }
    puts("");
}
