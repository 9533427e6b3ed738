/**
 * The build of the consoles, the operators' and the partners': everything in files of its own, because the content security policy
 * allows nothing inline. What both use is built once.
 */
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

export default defineConfig({
  base: '/console/',
  plugins: [react()],
  build: {
    ...{ assetsInlineLimit: 0, modulePreload: { polyfill: false }, reportCompressedSize: false },
    rollupOptions: { input: { console: 'index.html', partner: 'partner.html' } },
  },
});
