import { render } from 'preact';
import { takeToken } from './api/client';
import { startLive } from './state/live';
import { anyUnsaved } from './state/program';
import { readAddress } from './state/route';
import { Shell } from './views/Shell';

takeToken();
readAddress();
startLive();

// An address with a token may also be pasted into an open page.
addEventListener('hashchange', () => {
  if (location.hash.startsWith('#token=')) {
    takeToken();
    location.reload();
  }
});

addEventListener('beforeunload', (event) => {
  if (anyUnsaved()) event.preventDefault();
});

const root = document.getElementById('studio');
if (root) render(<Shell />, root);
