/* SPDX-License-Identifier: Apache-2.0 */
/* The simulator in WebAssembly: the few system calls that it makes, and its functions (src/ui/wasm/wasm.h).
 * This function uses nothing of the page, so that its text can be sent to a worker. */

function weftSimulator(module) {
  const ERRNO = {badFile: 8, missing: 44, notDirectory: 54, readOnly: 69, invalid: 28};
  const REGULAR = 4, DIRECTORY = 3;
  const files = new Map(); // path without the leading slash: bytes
  const utf8 = new TextDecoder(), encode = new TextEncoder();
  let instance = null, open = null, complaint = "", directories = new Set();

  class Exit extends Error {}

  const view = () => new DataView(instance.exports.memory.buffer);
  const bytesAt = (at, size) => new Uint8Array(instance.exports.memory.buffer, at, size);
  const textAt = (at, size) => utf8.decode(bytesAt(at, size));
  const clean = (path) => path.split("/").filter((part) => part !== "" && part !== ".").join("/");

  /* Different files have different numbers, by which programs tell them apart. */
  const inodes = new Map();
  function inodeOf(path) {
    if (!inodes.has(path)) inodes.set(path, inodes.size + 1);
    return BigInt(inodes.get(path));
  }
  function writeStat(at, file) {
    const to = view();
    for (let i = 0; i < 64; i += 8) to.setBigUint64(at + i, 0n, true);
    to.setBigUint64(at + 8, inodeOf(file.path), true);
    to.setUint8(at + 16, file.kind);
    to.setBigUint64(at + 32, BigInt(file.bytes ? file.bytes.length : 0), true);
    return 0;
  }
  function lookUp(path) {
    if (files.has(path)) return {kind: REGULAR, bytes: files.get(path), path};
    return path === "" || directories.has(path) ? {kind: DIRECTORY, path} : null;
  }
  /* Reads into the buffers of a list, from `at`; returns how many bytes. */
  function readInto(file, list, n, at) {
    let done = 0;
    for (let i = 0; i < n; i++) {
      const to = view(), part = file.bytes.subarray(at + done, at + done + to.getUint32(list + 8 * i + 4, true));
      bytesAt(to.getUint32(list + 8 * i, true), part.length).set(part);
      done += part.length;
    }
    return done;
  }
  /* The names in a directory, each as WASI has it: next, inode, length, kind, name. */
  function entriesOf(path) {
    const names = new Map(), prefix = path === "" ? "" : path + "/";
    for (const name of files.keys()) {
      if (name.startsWith(prefix)) {
        const [first, ...rest] = name.slice(prefix.length).split("/");
        names.set(first, rest.length ? DIRECTORY : REGULAR);
      }
    }
    return [...names];
  }

  const system = {
    clock_time_get(id, precision, at) {
      view().setBigUint64(at, BigInt(Math.round(performance.now() * 1e6)), true);
      return 0;
    },
    fd_allocate: () => ERRNO.readOnly,
    fd_close(fd) { return open.delete(fd) ? 0 : ERRNO.badFile; },
    fd_fdstat_get(fd, at) {
      const file = open.get(fd), to = view();
      if (!file && fd > 2) return ERRNO.badFile;
      for (let i = 0; i < 24; i += 8) to.setBigUint64(at + i, 0n, true);
      to.setUint8(at, file ? file.kind : 2);
      to.setBigUint64(at + 8, 0xffffffffn, true);
      to.setBigUint64(at + 16, 0xffffffffn, true);
      return 0;
    },
    fd_fdstat_set_flags: () => 0,
    fd_filestat_get(fd, at) {
      const file = open.get(fd);
      return !file ? ERRNO.badFile : writeStat(at, file);
    },
    fd_pread(fd, list, n, offset, at) {
      const file = open.get(fd);
      if (!file || !file.bytes) return ERRNO.badFile;
      const done = readInto(file, list, n, Number(offset));
      view().setUint32(at, done, true);
      return 0;
    },
    fd_prestat_get(fd, at) {
      if (fd !== 3) return ERRNO.badFile;
      view().setUint32(at, 0, true);
      view().setUint32(at + 4, 1, true);
      return 0;
    },
    fd_prestat_dir_name(fd, at) { bytesAt(at, 1)[0] = 0x2f; return 0; },
    fd_read(fd, list, n, at) {
      const file = open.get(fd);
      if (!file || !file.bytes) return ERRNO.badFile;
      const done = readInto(file, list, n, file.at);
      file.at += done;
      view().setUint32(at, done, true);
      return 0;
    },
    fd_readdir(fd, at, size, cookie, usedAt) {
      const file = open.get(fd);
      if (!file || file.kind !== DIRECTORY) return ERRNO.notDirectory;
      let used = 0;
      entriesOf(file.path).forEach(([name, kind], i) => {
        if (BigInt(i) < cookie || used >= size) return;
        const text = encode.encode(name), entry = new Uint8Array(24 + text.length), to = new DataView(entry.buffer);
        to.setBigUint64(0, BigInt(i + 1), true);
        to.setUint32(16, text.length, true);
        to.setUint8(20, kind);
        entry.set(text, 24);
        const part = entry.subarray(0, size - used);
        bytesAt(at + used, part.length).set(part);
        used += part.length;
      });
      view().setUint32(usedAt, used, true);
      return 0;
    },
    fd_seek(fd, offset, from, at) {
      const file = open.get(fd);
      if (!file || !file.bytes) return ERRNO.badFile;
      const to = Number(offset) + (from === 0 ? 0 : from === 1 ? file.at : file.bytes.length);
      if (to < 0) return ERRNO.invalid;
      file.at = to;
      view().setBigUint64(at, BigInt(to), true);
      return 0;
    },
    fd_write(fd, list, n, at) {
      let done = 0;
      for (let i = 0; i < n; i++) {
        const size = view().getUint32(list + 8 * i + 4, true);
        complaint += textAt(view().getUint32(list + 8 * i, true), size);
        done += size;
      }
      view().setUint32(at, done, true);
      return fd === 1 || fd === 2 ? 0 : ERRNO.readOnly;
    },
    path_filestat_get(fd, flags, at, size, to) {
      const found = lookUp(clean(textAt(at, size)));
      return !found ? ERRNO.missing : writeStat(to, found);
    },
    path_open(fd, lookup, at, size, how, rights, inherited, flags, to) {
      const found = lookUp(clean(textAt(at, size)));
      if (how & 1) return ERRNO.readOnly;
      if (!found) return ERRNO.missing;
      if (how & 2 && found.kind !== DIRECTORY) return ERRNO.notDirectory;
      let next = 4;
      while (open.has(next)) next++;
      open.set(next, {...found, at: 0});
      view().setUint32(to, next, true);
      return 0;
    },
    poll_oneoff: () => ERRNO.invalid,
    proc_exit(code) { throw new Exit(String(code)); },
  };

  function start() {
    instance = new WebAssembly.Instance(module, {wasi_snapshot_preview1: system});
    open = new Map([[3, {kind: DIRECTORY, path: ""}]]);
    instance.exports._initialize();
  }

  /* The text at an address, up to its NUL. */
  function textFrom(at) {
    const all = new Uint8Array(instance.exports.memory.buffer);
    return utf8.decode(all.subarray(at, all.indexOf(0, at)));
  }

  /* Calls a function with a request. What ends the instance becomes an answer: its last words. */
  function call(name, request, ...more) {
    complaint = "";
    try {
      if (!instance) start();
      const {exports} = instance;
      if (request) bytesAt(exports.room(request.length), request.length).set(request);
      return JSON.parse(textFrom(request ? exports[name](request.length, ...more) : exports[name]()));
    } catch (error) {
      instance = null;
      const words = complaint.trim().replace(/^weft: /, "");
      if (error instanceof Exit) return {code: Number(error.message), error: words};
      return {code: 70, error: error instanceof WebAssembly.RuntimeError || error instanceof RangeError
        ? `the simulation failed in the browser (${error.message})${words ? `: ${words}` : "; it may need more memory than a page has"}` : String(error)};
    }
  }

  return {
    /* Adds a file that settings can name. */
    addFile(path, bytes) {
      const parts = clean(path).split("/");
      files.set(parts.join("/"), bytes);
      while (parts.pop() !== undefined) directories.add(parts.join("/"));
    },
    /* Runs a scenario: a list of settings, each {key, value, origin?, place?, model?, with_topology?}. */
    run(settings, {record = false, whatIf = false, limit = 100000, path = 2 ** 20} = {}) {
      const texts = settings.map((s) => [s.key, s.value, s.origin || "", s.place || "", s.model || "", s.with_topology ? "1" : ""].join("\0") + "\0");
      /* Memory never shrinks: what a large run has taken is given back with its instance. */
      if (instance && instance.exports.memory.buffer.byteLength > 2 ** 28) instance = null;
      const begin = performance.now(), answer = call("run", encode.encode(texts.join("")), (record ? 1 : 0) + (whatIf ? 2 : 0), limit, path);
      answer.ms = performance.now() - begin;
      return answer;
    },
    catalog: () => call("catalog"),
  };
}
