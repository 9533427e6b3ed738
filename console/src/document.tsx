/**
 * Shows a file that an audited action returned: a picture as a picture, plain text as text.
 *
 * Its bytes decide which of them it is, and not the type that came with it: only JPEG, PNG and WEBP become a picture, so that an
 * SVG or a page of HTML is never rendered, whatever it calls itself. The picture is a `data:` URL, because the policy of this page
 * (server/src/console) allows those, and neither `blob:` URLs nor frames. A PDF would need a frame: it can only be saved.
 */
import { useEffect, useState } from 'react';
import { save } from './wire.ts';

/** The beginning of each; `?` is any byte. */
const SIGNATURES = {
  'image/jpeg': 'ff d8 ff',
  'image/png': '89 50 4e 47 0d 0a 1a 0a',
  'image/webp': '52 49 46 46 ? ? ? ? 57 45 42 50',
} as const;

const begins = (bytes: Uint8Array, signature: string): boolean =>
  signature.split(' ').every((byte, at) => byte === '?' || bytes[at] === Number.parseInt(byte, 16));

/** Types that an operator may look at here. */
export const isShownHere = (type: string): boolean => type in SIGNATURES || type === 'text/plain';

type Shown = { readonly picture: string } | { readonly text: string } | 'not here';

/** @param isText whether the file was taken in as plain text: then it is shown as its letters, of whatever they are the source */
async function shownOf(content: Blob, isText: boolean): Promise<Shown> {
  const bytes = new Uint8Array(await content.arrayBuffer());
  const [type] = Object.entries(SIGNATURES).find(([, signature]) => begins(bytes, signature)) ?? [];
  if (type !== undefined) return { picture: await dataUrlOf(new Blob([bytes], { type })) };
  if (!isText) return 'not here';
  try {
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch {
    return 'not here';
  }
}

export const dataUrlOf = (content: Blob): Promise<string> =>
  new Promise((done, failed) => {
    const reader = new FileReader();
    reader.addEventListener('load', () => done(String(reader.result)));
    reader.addEventListener('error', () => failed(new Error('The file cannot be read.')));
    reader.readAsDataURL(content);
  });

/** @param type as the server had found it when it took the file in */
export function Document({ name, type, content }: { name: string; type: string; content: Blob }) {
  const [shown, setShown] = useState<Shown>();
  useEffect(() => {
    let isLeft = false;
    void shownOf(content, type === 'text/plain')
      .catch((): Shown => 'not here')
      .then((found) => {
        if (!isLeft) setShown(found);
      });
    return () => {
      isLeft = true;
    };
  }, [content, type]);
  if (shown === undefined) return null;
  if (shown === 'not here')
    return (
      <div className="row">
        <span className="muted">A file of this kind is not shown here.</span>
        <button type="button" onClick={() => void save(name, content)}>
          Save {name}
        </button>
      </div>
    );
  if ('picture' in shown) return <img className="document" src={shown.picture} alt={name} />;
  return (
    <pre className="document" aria-label={name} tabIndex={0}>
      {shown.text}
    </pre>
  );
}
