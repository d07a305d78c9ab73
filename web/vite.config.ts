import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

/** The page is one script, one stylesheet, no inlined data: its content security policy allows nothing else. */
export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
  build: {
    outDir: "dist",
    emptyOutDir: true,
    target: "esnext",
    assetsInlineLimit: 0,
    modulePreload: false,
  },
});
