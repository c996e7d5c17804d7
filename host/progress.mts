/** Runs a step that takes some time, under a title. */
export type Report = <Result>(title: string, work: () => Promise<Result>) => Promise<Result>;

export const quietly: Report = async (_title, work) => await work();

/** Milliseconds between two reports of the elapsed time: a terminal rewrites its line, a log gets one more line. */
const intervalMilliseconds = { terminal: 1_000, log: 15_000 };

/** Writes each step with its elapsed seconds to a terminal or a file. */
export function reportTo(stream: NodeJS.WriteStream): Report {
	const kind = stream.isTTY ? 'terminal' : 'log';
	const start = kind === 'terminal' ? '\r\u001b[2K' : '';
	const end = kind === 'terminal' ? '' : '\n';

	return async (title, work) => {
		const started = Date.now();
		const seconds = () => Math.round((Date.now() - started) / 1_000);
		stream.write(`${start}  ${title} …${end}`);
		const timer = setInterval(() => {
			stream.write(`${start}  ${title} … ${seconds()} s${end}`);
		}, intervalMilliseconds[kind]);
		try {
			const result = await work();
			stream.write(`${start}✓ ${title} (${seconds()} s)\n`);
			return result;
		} catch (error) {
			stream.write(`${start}✗ ${title} (${seconds()} s)\n`);
			throw error;
		} finally {
			clearInterval(timer);
		}
	};
}
