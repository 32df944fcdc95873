// The switch of languages goes to the heading that is being read; headings have the same names in both.
addEventListener("DOMContentLoaded", () => {
  const headings = [...document.querySelectorAll("article section[id]")];
  const go = ({ currentTarget: link }) => {
    const read = headings.filter((section) => section.getBoundingClientRect().top < innerHeight / 3).pop();
    link.hash = read && read !== headings[0] ? read.id : "";
  };
  for (const link of document.querySelectorAll("a.switch")) {
    for (const event of ["pointerdown", "focus", "mouseenter", "click"]) link.addEventListener(event, go);
  }

  // What is wider than the page scrolls by itself, and must be within reach of the keyboard.
  const reach = new ResizeObserver((seen) => {
    for (const { target } of seen) {
      if (target.scrollWidth > target.clientWidth) target.tabIndex = 0;
      else target.removeAttribute("tabindex");
    }
  });
  for (const wide of document.querySelectorAll("article pre, article .formula, article .table-wrapper")) {
    reach.observe(wide);
  }

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
