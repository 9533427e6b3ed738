/**
 * Shows a file that an audited action returned: a picture as a picture, a PDF page by page, plain text as text.
 *
 * Its bytes decide which of them it is, and not the type that came with it: only JPEG, PNG and WEBP become a picture, so that an
 * SVG or a page of HTML is never rendered, whatever its declared type is. The picture is a `data:` URL, because the policy of this page
 * (server/src/console) allows those, and neither `blob:` URLs nor frames. A PDF is drawn on a canvas (pdf.ts).
 *
 * An overlay shows the viewer and the time, so a screenshot can be traced. A saved file has no such mark.
 */
import { type ReactNode, useEffect, useState } from 'react';
import { utc } from './format.ts';
import { Pdf } from './pdf.view.tsx';
import { useSession } from './shell.tsx';
import { save } from './wire.ts';

/** The beginning of each; `?` is any byte. */
const SIGNATURES = {
  'image/jpeg': 'ff d8 ff',
  'image/png': '89 50 4e 47 0d 0a 1a 0a',
  'image/webp': '52 49 46 46 ? ? ? ? 57 45 42 50',
} as const;
const PDF = '25 50 44 46 2d';

const begins = (bytes: Uint8Array, signature: string): boolean =>
  signature.split(' ').every((byte, at) => byte === '?' || bytes[at] === Number.parseInt(byte, 16));

/** Types that an operator may look at here. */
export const isShownHere = (type: string): boolean =>
  type in SIGNATURES || type === 'application/pdf' || type === 'text/plain';

type Shown = { readonly picture: string } | { readonly pdf: Uint8Array } | { readonly text: string } | 'not here';

/** @param isText whether the file was taken in as plain text: then it is shown as its letters, of whatever they are the source */
async function shownOf(content: Blob, isText: boolean): Promise<Shown> {
  const bytes = new Uint8Array(await content.arrayBuffer());
  const [type] = Object.entries(SIGNATURES).find(([, signature]) => begins(bytes, signature)) ?? [];
  if (type !== undefined) return { picture: await dataUrlOf(new Blob([bytes], { type })) };
  if (begins(bytes, PDF)) return { pdf: bytes };
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

/** A tile that repeats over the whole document: legible on light and on dark. */
const tileOf = (text: string): string => {
  const words = `<text x="12" y="92" transform="rotate(-18 12 92)">${text}</text>`;
  const look =
    'font-family="sans-serif" font-size="13" fill="#fff" fill-opacity=".5" stroke="#000" stroke-opacity=".4"';
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="230" height="110"><g ${look} stroke-width="1.2" paint-order="stroke">${words}</g></svg>`;
  return `url("data:image/svg+xml,${encodeURIComponent(svg)}")`;
};

/** The operator's name and the time at which the file was opened, all over a document. */
function Marked({ children }: { children: ReactNode }) {
  const { data: session } = useSession();
  const [at] = useState(() => utc(new Date().toISOString()).replace(/:\d\d UTC$/, ' UTC'));
  const mark = `${session?.name ?? ''} ${at}`;
  return (
    <div className="marked" data-mark={mark}>
      {children}
      <div className="mark" style={{ backgroundImage: tileOf(mark) }} />
    </div>
  );
}

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
  const saving = (
    <button type="button" onClick={() => void save(name, content)}>
      Save {name}
    </button>
  );
  if (shown === 'not here')
    return (
      <div className="row">
        <span className="muted">A file of this kind is not shown here.</span>
        {saving}
      </div>
    );
  if ('pdf' in shown)
    return <Pdf name={name} bytes={shown.pdf} saving={saving} marked={(drawn) => <Marked>{drawn}</Marked>} />;
  return (
    <Marked>
      {'picture' in shown ? (
        <img className="document" src={shown.picture} alt={name} />
      ) : (
        <pre className="document" aria-label={name} tabIndex={0}>
          {shown.text}
        </pre>
      )}
    </Marked>
  );
}
