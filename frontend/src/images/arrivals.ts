interface Listener {
  /** Something is held over the page, or no longer. */
  hovers(over: boolean): void;
  file(file: File): void;
  /** What was pasted, but not into a field, has no file in it. */
  none(): void;
}

/** Pictures that are dropped on the page or pasted into it. */
export const arrivals = (on: Listener): void => {
  const first = (data: DataTransfer | null): File | undefined => data?.files[0];
  const carries = (e: DragEvent) => !!e.dataTransfer?.types.includes("Files");
  let inside = 0;
  addEventListener("dragenter", (e) => carries(e) && ++inside === 1 && on.hovers(true));
  addEventListener("dragleave", (e) => carries(e) && --inside === 0 && on.hovers(false));
  addEventListener("dragover", (e) => carries(e) && e.preventDefault());
  addEventListener("drop", (e) => {
    if (!carries(e)) return;
    e.preventDefault(); // or the browser would leave the page and show the picture
    inside = 0;
    on.hovers(false);
    const file = first(e.dataTransfer);
    if (file) on.file(file);
  });
  addEventListener("paste", (e) => {
    const file = first(e.clipboardData);
    if (file) {
      e.preventDefault();
      on.file(file);
    } else if (!(e.target instanceof HTMLInputElement)) on.none();
  });
};
