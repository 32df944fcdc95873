import { defineConfig } from "vitest/config";

export default defineConfig({
  define: { LAB: "true" },
  // Long enough that a slow machine never decides a test: no test is about time.
  test: { include: ["tests/**/*.test.{ts,tsx}"], testTimeout: 120_000 },
});
