import { ask, at, Refused, type Lab } from "./api";

/** A server-sent event (HTML Standard, 9.2): what it is about, and JSON. */
export interface Sent { id: string; event: string; data: unknown }

/** Reads events from pieces of text, wherever these were cut: give it each piece, and it gives what became whole.
 *  Comments, which only keep the line open, and data that is no JSON are passed over. */
export const reader = (): ((piece: string) => Sent[]) => {
  let rest = "";
  return (piece) => {
    rest += piece;
    // A CR at the very end may be half a line end: it waits for what follows.
    const end = rest.endsWith("\r") ? 1 : 0;
    const blocks = rest.slice(0, rest.length - end).replace(/\r\n?/g, "\n").split("\n\n");
    rest = blocks.pop()! + rest.slice(rest.length - end);
    return blocks.flatMap((block) => {
      const sent = { id: "", event: "message" };
      const data: string[] = [];
      for (const line of block.split("\n")) {
        const [, name, value] = /^([^:]*):? ?(.*)$/.exec(line)!;
        if (name === "data") data.push(value);
        else if (name === "id" || name === "event") sent[name] = value;
      }
      try {
        return data.length ? [{ ...sent, data: JSON.parse(data.join("\n")) }] : [];
      } catch {
        return [];
      }
    });
  };
};

const PAUSES = [1, 2, 4, 8, 15, 30];
/** Seconds before the next attempt, after so many that came to nothing. */
export const pauseAfter = (failures: number): number => PAUSES[Math.min(failures, PAUSES.length) - 1] ?? 0;

export interface Listener {
  event(sent: Sent): void;
  /** Seconds until the next attempt; 0: it is there again. */
  lost(seconds: number): void;
  /** The lab will not tell any more of it: the run is unknown, or the page is one of a lab that has ended. */
  refused(error: Refused): void;
}

export interface Following { stop(): void; now(): void }

/** Listens to a run until its "end", and again after each time the connection is lost, from where it was. EventSource
 *  would do the same, but cannot send the token. since: the last event that is known already. */
export const follow = (lab: () => Lab, id: string, since: string, listener: Listener): Following => {
  const abort = new AbortController();
  let last = since;
  let failures = 0;
  let wake = () => {};
  const sleep = (seconds: number) => new Promise<void>((done) => {
    const timer = setTimeout(done, 1000 * seconds);
    wake = () => { clearTimeout(timer); done(); };
  });

  /** Whether the run has ended. */
  const listen = async (): Promise<boolean> => {
    const answer = await ask(lab(), at(id, "/events"), { signal: abort.signal, headers: last ? { "Last-Event-ID": last } : {} });
    if (!answer.ok) throw new Refused(answer.status, (await answer.json()).error?.message);
    if (failures) listener.lost(failures = 0);
    const read = reader();
    const text = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const { value, done } = await text.read();
      if (done) return false;
      for (const sent of read(value)) {
        last = sent.id || last;
        listener.event(sent);
        if (sent.event === "end") return true;
      }
    }
  };

  const go = async () => {
    while (!abort.signal.aborted) {
      try {
        if (await listen()) return abort.abort();
      } catch (error) {
        if (abort.signal.aborted) return;
        if (error instanceof Refused && error.status < 500) return listener.refused(error);
      }
      if (abort.signal.aborted) return;
      failures++;
      listener.lost(pauseAfter(failures));
      await sleep(pauseAfter(failures));
    }
  };
  void go();
  return { stop: () => abort.abort(), now: () => wake() };
};
