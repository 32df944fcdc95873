import { afterEach, describe, expect, it, vi } from "vitest";
import { Refused, call } from "../../src/train/api";
import { follow, pauseAfter, reader, type Sent } from "../../src/train/stream";

const text = 'id: 1\nevent: run\ndata: {"id":"é"}\n\n:\n\nid: 2\nevent: line\ndata: {"step":9}\n\nevent: end\ndata: {}\n\n';
const events: Sent[] = [
  { id: "1", event: "run", data: { id: "é" } }, { id: "2", event: "line", data: { step: 9 } }, { id: "", event: "end", data: {} },
];

describe("events out of a stream", () => {
  it("are the same wherever it is cut, and whatever its line ends", () => {
    for (const all of [text, text.replaceAll("\n", "\r\n")]) {
      for (let cut = 0; cut <= all.length; cut++) {
        const read = reader();
        expect([...read(all.slice(0, cut)), ...read(all.slice(cut))]).toEqual(events);
      }
      const read = reader();
      expect([...all].flatMap((c) => read(c))).toEqual(events);
    }
  });
  it("join lines of data, and pass over what is none", () => {
    expect(reader()('data: {"a":\ndata: 1}\n\n')).toEqual([{ id: "", event: "message", data: { a: 1 } }]);
    expect(reader()("data: {half\n\n: comment\n\nid: 4\n\n")).toEqual([]);
  });
  it("wait for their end", () => expect(reader()("event: run\ndata: {}\n")).toEqual([]));
});

it("waits longer each time, half a minute at most", () => {
  expect([1, 2, 3, 4, 5, 6, 7, 50].map(pauseAfter)).toEqual([1, 2, 4, 8, 15, 30, 30, 30]);
});

describe("following a run", () => {
  afterEach(() => void vi.unstubAllGlobals());
  const lab = { token: "secret", language: "en" } as const;
  const stream = (body: string, status = 200) => new Response(body, { status });
  const heard = () => {
    const all: unknown[] = [];
    return { all, listener: { event: (e: Sent) => all.push(e.event), lost: (s: number) => all.push(s), refused: (e: Refused) => all.push(e.message) } };
  };

  it("goes on after the last event that it heard, until the end", async () => {
    const calls: Record<string, string>[] = [];
    const answers = [stream(text.split("event: end")[0]), stream("event: end\ndata: {}\n\n")];
    vi.stubGlobal("fetch", async (url: string, init: RequestInit) => {
      calls.push({ url, ...(init.headers as object) });
      return answers.shift();
    });
    const { all, listener } = heard();
    const following = follow(() => lab, "a b/ñ", "", listener);
    await vi.waitFor(() => expect(all).toContain(1)); // lost: one second
    following.now();
    await vi.waitFor(() => expect(all).toEqual(["run", "line", 1, 0, "end"]));
    expect(calls[0]).toEqual({ url: "/api/runs/a%20b%2F%C3%B1/events?lang=en", "X-Mirada-Token": "secret" });
    expect(calls[1]).toEqual({ ...calls[0], "Last-Event-ID": "2" });
    expect(calls.length).toBe(2);
  });

  it("says for how long it waits when there is nobody, and longer the next time", async () => {
    vi.stubGlobal("fetch", () => Promise.reject(new TypeError("gone")));
    const { all, listener } = heard();
    const following = follow(() => lab, "x", "7", listener);
    for (const [i, seconds] of [1, 2, 4].entries()) {
      await vi.waitFor(() => expect(all[i]).toBe(seconds));
      following.now();
    }
    following.stop();
    following.now();
  });

  it("stops where the lab refuses", async () => {
    vi.stubGlobal("fetch", async () => stream('{"error":{"code":"no_run","message":"No such run."}}', 404));
    const { all, listener } = heard();
    follow(() => lab, "x", "", listener);
    await vi.waitFor(() => expect(all).toEqual(["No such run."]));
  });

  it("says nothing any more once it is stopped", async () => {
    vi.stubGlobal("fetch", (_: string, { signal }: RequestInit) => new Promise((_, no) => signal!.addEventListener("abort", () => no(signal!.reason))));
    const { all, listener } = heard();
    follow(() => lab, "x", "", listener).stop();
    await new Promise((done) => setTimeout(done));
    expect(all).toEqual([]);
  });
});

describe("a call", () => {
  afterEach(() => void vi.unstubAllGlobals());
  it("gives what the lab answers, or its sentence, or says that nobody is there", async () => {
    const lab = { language: "es" } as const;
    vi.stubGlobal("fetch", async () => new Response('{"runs":[]}'));
    expect(await call(lab, "runs")).toEqual({ runs: [] });
    vi.stubGlobal("fetch", async () => new Response('{"error":{"message":"No cabe."}}', { status: 429 }));
    await expect(call(lab, "runs", {})).rejects.toMatchObject({ status: 429, message: "No cabe." });
    vi.stubGlobal("fetch", async () => new Response("<h1>proxy</h1>", { status: 502 }));
    await expect(call(lab, "runs")).rejects.toMatchObject({ status: 0 });
    vi.stubGlobal("fetch", () => Promise.reject(new TypeError()));
    await expect(call(lab, "runs")).rejects.toBeInstanceOf(Refused);
  });
});
