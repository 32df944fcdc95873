/** How many of `draws` digits the most frequent one is on average, as a share: E[max count] / draws, exactly.
 *
 *  Without positions the model answers each digit from what it is and from which other digits there are, not where. The
 *  right answer of "reverse" is any of the seven others, all alike: nobody can do better than to say the most frequent of
 *  them. P(max ≤ m) is draws! times the coefficient of x^draws in (Σ_{k≤m} x^k / k!)^digits, over digits^draws. */
export const mostFrequent = (draws: number, digits = 10): number => {
  const factorial = (n: number): number => (n < 2 ? 1 : n * factorial(n - 1));
  let expected = 0;
  for (let m = 0; m < draws; m++) {
    let power = [1];
    for (let d = 0; d < digits; d++) {
      power = Array.from({ length: draws + 1 }, (_, n) => {
        let sum = 0;
        for (let k = 0; k <= Math.min(m, n); k++) sum += (power[n - k] ?? 0) / factorial(k);
        return sum;
      });
    }
    expected += 1 - (power[draws] * factorial(draws)) / digits ** draws; // P(max > m)
  }
  return expected / draws;
};

/** No more than this share of the digits can come out right, where that is known. */
export const ceilingOf = (task: string): number | null => (task === "reverse" ? mostFrequent(7) : null);
