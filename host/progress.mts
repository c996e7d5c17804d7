/** Runs a step that takes some time, under a title. A terminal shows how far it is, if the step can tell. */
export type Report = <Result>(
	title: string,
	work: () => Promise<Result>,
	howFar?: () => string,
) => Promise<Result>;

export const quietly: Report = async (_title, work) => await work();

/** Writes each step with its elapsed seconds. A terminal rewrites the line each second; a file gets a line at start and end. */
export function reportTo(stream: NodeJS.WriteStream): Report {
	return async (title, work, howFar) => {
		const started = Date.now();
		const write = (mark: string, end = '\n', far = '') => {
			const seconds = Math.round((Date.now() - started) / 1_000);
			const line = `${mark} ${title}${far && `: ${far}`} (${seconds} s)${end}`;
			stream.write((stream.isTTY ? '\r\u001b[2K' : '') + line);
		};
		write('…', stream.isTTY ? '' : '\n');
		const timer = stream.isTTY && setInterval(() => write('…', '', howFar?.()), 1_000);
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
