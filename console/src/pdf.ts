/**
 * Reads a PDF and draws its pages on a canvas, by pdf.js: in a worker of its own, which ends with the document, or when a step takes too
 * long. pdf.js is loaded when the first PDF is opened.
 *
 * A PDF comes from a stranger. Its scripts are never run (that takes a part of pdf.js that is not here), its links are drawn and lead
 * nowhere, its fonts are drawn as lines and never reach the browser's own font code, and it loads nothing. The content security
 * policy of the page is the same with it as without: no eval, no WebAssembly, no blob.
 */
const ROOT = '/console/assets/pdfjs-6.5.438';

/** For each step: opening, or drawing a page. */
const STEP_MS = 20_000;
/** Size of the canvas at most; a page of any size is scaled into it. About an A4 page at 220 dpi. */
const MOST_WIDTH = 1_800;
const MOST_HEIGHT = 2_600;
/** A larger picture in a page is left out. */
const MOST_PICTURE_PIXELS = 40_000_000;

/** The parts of pdf.js that are used. */
interface PdfJs {
  readonly PDFWorker: { create(given: { port: Worker }): unknown };
  getDocument(given: Readonly<Record<string, unknown>>): { readonly promise: Promise<PdfDocument> };
}
interface PdfDocument {
  readonly numPages: number;
  getPage(number: number): Promise<PdfPage>;
}
interface Drawing {
  readonly promise: Promise<void>;
  cancel(): void;
}
interface PdfPage {
  getViewport(given: { scale: number }): { readonly width: number; readonly height: number };
  render(given: Readonly<Record<string, unknown>>): Drawing;
  cleanup(): void;
}

export interface OpenPdf {
  readonly pages: number;
  /** Stops a page that is still being drawn. @throws Error that says what is wrong */
  draw(page: number, canvas: HTMLCanvasElement): Promise<void>;
  close(): void;
}

class TooLong extends Error {}

/** @throws Error that says what is wrong */
export async function openPdf(bytes: Uint8Array): Promise<OpenPdf> {
  const pdfjs = (await import(/* @vite-ignore */ `${ROOT}/pdf.js`)) as PdfJs;
  const port = new Worker(`${ROOT}/pdf.worker.js`, { type: 'module' });
  // The page is drawn outside the worker: that goes on without it, through all that the worker has sent, until it is cancelled.
  let drawing: Drawing | undefined;
  let turn = 0;
  let isClosed = false;
  const close = () => {
    isClosed = true;
    drawing?.cancel();
    port.terminate();
  };
  const died = new Promise<never>((_, failed) => {
    port.addEventListener('error', () => failed(new Error('the worker of pdf.js failed')));
  });
  died.catch(() => {});
  /** A hostile file may keep the worker busy for ever: then it is ended. */
  const step = async <T>(work: Promise<T>): Promise<T> => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<never>((_, failed) => {
      timer = setTimeout(() => {
        failed(new TooLong());
        close();
      }, STEP_MS);
    });
    try {
      return await Promise.race([work, late, died]);
    } finally {
      clearTimeout(timer);
    }
  };
  try {
    const document = await step(
      pdfjs.getDocument({
        data: bytes,
        worker: pdfjs.PDFWorker.create({ port }),
        verbosity: 0,
        ...{ disableFontFace: true, useSystemFonts: false, standardFontDataUrl: `${ROOT}/fonts/` },
        ...{
          useWasm: false,
          wasmUrl: `${ROOT}/decoders/`,
          isOffscreenCanvasSupported: false,
          isImageDecoderSupported: false,
        },
        ...{ enableXfa: false, maxImageSize: MOST_PICTURE_PIXELS },
      }).promise,
    );
    if (document.numPages < 1) throw new Error('it has no page');
    const draw = async (page: number, canvas: HTMLCanvasElement): Promise<void> => {
      if (isClosed) throw new TooLong();
      drawing?.cancel();
      turn += 1;
      const mine = turn;
      const begun = (task: Drawing) => {
        if (isClosed || mine !== turn) task.cancel();
        else drawing = task;
      };
      try {
        await step(drawn(document, page, canvas, begun));
      } finally {
        if (mine === turn) drawing = undefined;
      }
    };
    return { pages: document.numPages, close, draw: (page, canvas) => draw(page, canvas).catch(said) };
  } catch (error) {
    close();
    return said(error);
  }
}

async function drawn(
  document: PdfDocument,
  number: number,
  canvas: HTMLCanvasElement,
  begun: (task: Drawing) => void,
): Promise<void> {
  const page = await document.getPage(number);
  const { width, height } = page.getViewport({ scale: 1 });
  const scale = Math.min(MOST_WIDTH / width, MOST_HEIGHT / height);
  if (!Number.isFinite(scale) || scale <= 0) throw new Error('the page has no size');
  const viewport = page.getViewport({ scale });
  canvas.width = Math.max(1, Math.floor(viewport.width));
  canvas.height = Math.max(1, Math.floor(viewport.height));
  const task = page.render({ canvas, viewport });
  begun(task);
  try {
    await task.promise;
  } finally {
    page.cleanup();
  }
}

/** What is wrong, in words. @throws always */
function said(error: unknown): never {
  const { name, message } = error as { name?: string; message?: string };
  if (error instanceof TooLong) throw new Error(`It took more than ${STEP_MS / 1000} seconds, and was stopped.`);
  if (name === 'PasswordException') throw new Error('It is protected by a password.');
  if (name === 'InvalidPDFException') throw new Error('It is damaged: it cannot be read as a PDF.');
  throw new Error(`It cannot be drawn: ${(message ?? 'the reason is unknown').slice(0, 200)}.`);
}
