/** Which of the maps of a run tell how it went: the first, the last, and some between, so that from each to the next about
 *  as much changes; evenly in time, most of them would be alike. Their positions, as many as there may be.
 *
 *  Again and again, the two neighbours that differ most get the map between them that is half-way in change. */
export const telling = (maps: (number | null)[][], most: number): number[] => {
  if (maps.length <= most) return maps.map((_, i) => i);
  const change = [0]; // up to each map
  for (let i = 1; i < maps.length; i++) {
    change.push(change[i - 1] + Math.hypot(...maps[i].map((w, j) => (w ?? 0) - (maps[i - 1][j] ?? 0))));
  }
  const chosen = [0, maps.length - 1].slice(-most);
  while (chosen.length < most) {
    let after = -1; // the neighbour before the gap
    const gap = (k: number) => change[chosen[k + 1]] - change[chosen[k]];
    for (let k = 0; k + 1 < chosen.length; k++) {
      if (chosen[k + 1] - chosen[k] > 1 && (after < 0 || gap(k) > gap(after))) after = k;
    }
    const middle = (change[chosen[after]] + change[chosen[after + 1]]) / 2;
    let between = chosen[after] + 1;
    for (let i = between; i < chosen[after + 1]; i++) if (Math.abs(change[i] - middle) < Math.abs(change[between] - middle)) between = i;
    chosen.splice(after + 1, 0, between);
  }
  return chosen;
};
