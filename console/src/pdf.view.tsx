/** A PDF in the page: one of its pages at a time on a canvas, and what is wrong with it where it cannot be drawn. */
import { type ReactNode, useEffect, useRef, useState } from 'react';
import type { OpenPdf } from './pdf.ts';

/** @param marked lays the mark over what is drawn. @param saving the button that saves the file */
export function Pdf(p: {
  name: string;
  bytes: Uint8Array;
  marked: (drawn: ReactNode) => ReactNode;
  saving: ReactNode;
}) {
  const { name, bytes } = p;
  const canvas = useRef<HTMLCanvasElement>(null);
  const [pdf, setPdf] = useState<OpenPdf>();
  const [page, setPage] = useState(1);
  const [drawn, setDrawn] = useState<number>();
  const [wrong, setWrong] = useState<string>();
  useEffect(() => {
    let isLeft = false;
    let opened: OpenPdf | undefined;
    // pdf.js takes the bytes away with it.
    import('./pdf.ts')
      .then(({ openPdf }) => openPdf(bytes.slice()))
      .then((found) => {
        opened = found;
        if (isLeft) found.close();
        else setPdf(found);
      })
      .catch((error: Error) => {
        if (!isLeft) setWrong(error.message);
      });
    return () => {
      isLeft = true;
      opened?.close();
    };
  }, [bytes]);
  useEffect(() => {
    if (pdf === undefined || canvas.current === null) return;
    let isLeft = false;
    // A canvas takes one page: another one that is still being drawn keeps its own.
    const mine = document.createElement('canvas');
    pdf
      .draw(page, mine)
      .then(() => {
        if (isLeft || canvas.current === null) return;
        canvas.current.width = mine.width;
        canvas.current.height = mine.height;
        canvas.current.getContext('2d')?.drawImage(mine, 0, 0);
        setDrawn(page);
      })
      .catch((error: Error) => {
        if (!isLeft) setWrong(`Page ${page}. ${error.message}`);
      });
    return () => {
      isLeft = true;
    };
  }, [pdf, page]);
  const goes = (to: number) => {
    setWrong(undefined);
    setPage(to);
  };
  const isOver = wrong !== undefined && drawn !== page;
  return (
    <div className="pdf">
      {isOver && (
        <div className="row">
          <span className="note is-warn" role="alert">
            This PDF is not shown. {wrong}
          </span>
          {p.saving}
        </div>
      )}
      {pdf === undefined && wrong === undefined && <p className="muted">Opening the PDF.</p>}
      {pdf !== undefined && (
        <>
          <div className="row">
            <button type="button" disabled={page <= 1} onClick={() => goes(page - 1)}>
              Previous page
            </button>
            <span role="status">
              Page {page} of {pdf.pages}
              {drawn !== page && !isOver && ', being drawn'}
            </span>
            <button type="button" disabled={page >= pdf.pages} onClick={() => goes(page + 1)}>
              Next page
            </button>
          </div>
          <div
            className="document pages"
            tabIndex={0}
            role="group"
            aria-label={`${name}, page ${page}`}
            hidden={isOver}
          >
            {p.marked(
              <canvas
                ref={canvas}
                role="img"
                aria-label={`${name}, ${drawn === undefined ? 'being drawn' : `page ${drawn} of ${pdf.pages}`}`}
              />,
            )}
          </div>
        </>
      )}
    </div>
  );
}
