// The switch of languages goes to the heading that is being read; headings have the same names in both.
addEventListener("DOMContentLoaded", () => {
  const link = document.querySelector("a.switch");
  const headings = [...document.querySelectorAll("article section[id]")];
  const go = () => {
    const read = headings.filter((section) => section.getBoundingClientRect().top < innerHeight / 3).pop();
    link.hash = read && read !== headings[0] ? read.id : "";
  };
  for (const event of ["pointerdown", "focus", "mouseenter", "click"]) link.addEventListener(event, go);

  // The activity is as high as it needs to be, where the browser lets us ask (files on disk are strangers).
  for (const frame of document.querySelectorAll(".activity iframe")) {
    const fit = () => {
      const page = frame.contentDocument?.documentElement;
      if (page) frame.style.height = `${page.scrollHeight}px`;
    };
    frame.addEventListener("load", () => {
      fit();
      if (frame.contentDocument) new ResizeObserver(fit).observe(frame.contentDocument.body);
    });
  }
});
