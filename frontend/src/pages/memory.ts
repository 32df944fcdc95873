/** What the page remembers from one visit to the next. Where storage is forbidden it simply forgets. */
export const recall = (name: string): string | null => {
  try {
    return localStorage.getItem("mirada." + name);
  } catch {
    return null;
  }
};

export const remember = (name: string, value: string): void => {
  try {
    localStorage.setItem("mirada." + name, value);
  } catch {
    // A page from a file, or a reader who allows no storage.
  }
};
