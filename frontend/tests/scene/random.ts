/** A small seeded generator (mulberry32), so that every run of a property test draws the same cases. */
export const random = (seed: number) => {
  let state = seed;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  const between = (low: number, high: number) => low + (high - low) * next();
  const whole = (low: number, high: number) => low + Math.floor((high - low + 1) * next());
  return {
    next, between, whole,
    pick: <T>(from: readonly T[]): T => from[whole(0, from.length - 1)],
    /** Weights as a softmax gives them, from nearly even to nearly all on one. */
    weights: (count: number, sharpness = between(0, 12)): number[] => {
      const powers = Array.from({ length: count }, () => Math.exp(sharpness * between(-1, 1)));
      const total = powers.reduce((a, b) => a + b);
      return powers.map((p) => p / total);
    },
  };
};
