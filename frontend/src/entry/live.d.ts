/** The style of what only a script brings along; the build makes it. */
declare module "live.css" {
  const css: string;
  export default css;
}
