/** Runs a step that takes some time, under a title. */
export type Report = <Result>(title: string, work: () => Promise<Result>) => Promise<Result>;

export const quietly: Report = async (_title, work) => await work();

/** Writes each step with its elapsed seconds. A terminal rewrites the line each second; a file gets a line at start and end. */
export function reportTo(stream: NodeJS.WriteStream): Report {
	return async (title, work) => {
		const started = Date.now();
		const write = (mark: string, end = '\n') => {
			const seconds = Math.round((Date.now() - started) / 1_000);
			stream.write(`${stream.isTTY ? '\r\u001b[2K' : ''}${mark} ${title} (${seconds} s)${end}`);
		};
		write('…', stream.isTTY ? '' : '\n');
		const timer = stream.isTTY && setInterval(() => write('…', ''), 1_000);
		try {
			const result = await work();
			write('✓');
			return result;
		} catch (error) {
			write('✗');
			throw error;
		} finally {
			if (timer) clearInterval(timer);
		}
	};
}
