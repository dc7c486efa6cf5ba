import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

const root = fileURLToPath(new URL('.', import.meta.url));
const outDir = fileURLToPath(new URL('../dist/dev-ui', import.meta.url));
const compressible = /\.(?:js|css|svg|json)$/;
/** Below this a compressed copy saves nothing worth a file. */
const minBytes = 1_024;

/** Writes a Brotli and a gzip copy beside every text file: the server sends what it finds and never compresses. */
function precompress(): Plugin {
  return {
    name: 'precompress',
    apply: 'build',
    closeBundle() {
      const assets = join(outDir, 'assets');
      for (const name of readdirSync(assets).filter((file) => compressible.test(file))) {
        const bytes = readFileSync(join(assets, name));
        if (bytes.length < minBytes) continue;
        const params = { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
        writeFileSync(join(assets, `${name}.br`), brotliCompressSync(bytes, { params }));
        writeFileSync(join(assets, `${name}.gz`), gzipSync(bytes, { level: 9 }));
      }
    },
  };
}

export default defineConfig({
  root,
  base: './', // every address is relative, so that the build works below any path
  plugins: [react(), precompress()],
  build: {
    outDir,
    emptyOutDir: true,
    assetsInlineLimit: 0, // the page's policy has no `data:` for scripts, styles or fonts
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    target: 'es2024',
    chunkSizeWarningLimit: 700,
  },
});
