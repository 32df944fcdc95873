// esbuild puts these in scope wherever JSX needs them: smaller than the automatic runtime.
export { Fragment, h } from "preact";
