import { defineConfig } from 'vite';

/** Where `npm run dev` finds a studio's server, as `http://127.0.0.1:PORT`. */
const server = process.env['TENON_STUDIO'] ?? 'http://127.0.0.1:8088';

// The page is served under a policy that allows neither inline scripts nor inline styles, so nothing is inlined.
export default defineConfig({
  base: './',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  server: {
    proxy: {
      '/v1': {
        target: server,
        changeOrigin: true,
        // The studio accepts requests of its own pages alone.
        configure: (proxy) => proxy.on('proxyReq', (request) => request.removeHeader('origin')),
      },
    },
  },
  build: {
    outDir: 'bundle',
    emptyOutDir: true,
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    sourcemap: false,
    reportCompressedSize: false,
  },
});
