/** The style of what only a script brings along; the build makes it. */
declare module "live.css" {
  const css: string;
  export default css;
}

/** Whether the page stands in the lab, beside others; the build says so. */
declare const LAB: boolean;
