import { isMet, ratio, type Row } from './row.mts';

/** All in pixels but `scale`, the pixels of a ratio of 1. */
const layout = { width: 900, line: 26, bar: 14, labels: 400, top: 44, scale: 150 };

/** A bar for the ratio of each row that has one, as an SVG; a tick stands for its bound. */
export function plotRatios(rows: Row[]): string {
	const compared = rows.flatMap((row) => {
		const value = ratio(row);
		return value === undefined ? [] : [{ row, value }];
	});
	const { width, line, labels, top, scale } = layout;
	const height = top + compared.length * line + 12;
	const equal = labels + scale;
	const bars = compared.map(({ row, value }, index) => bar(row, value, top + index * line));
	return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12">
<rect width="${width}" height="${height}" fill="#ffffff"/>
<text x="12" y="22" font-size="14" font-weight="bold">How many times better than n8n's own node</text>
<text x="${equal}" y="36" text-anchor="middle" fill="#666666">1</text>
${bars.join('\n')}
<path d="M${equal} ${top - 4}V${height - 8}" stroke="#666666" stroke-dasharray="3 3"/>
</svg>
`;
}

function bar(row: Row, value: number, y: number): string {
	const { width, labels, scale } = layout;
	const middle = y + layout.bar / 2 + 4;
	// Room is left for the figure behind the bar.
	const length = Math.min(value * scale, width - labels - 60);
	const fill = isMet(row) === false ? '#c0392b' : '#2f7d5b';
	const parts = [
		`<text x="${labels - 8}" y="${middle}" text-anchor="end">${row.title}</text>`,
		`<rect x="${labels}" y="${y}" width="${length.toFixed(1)}" height="${layout.bar}" fill="${fill}"/>`,
		`<text x="${(labels + length + 8).toFixed(1)}" y="${middle}">${value.toFixed(2)}</text>`,
	];
	if (row.bound && 'ratio' in row.bound) {
		const x = (labels + row.bound.ratio * scale).toFixed(1);
		parts.push(`<path d="M${x} ${y - 3}v${layout.bar + 6}" stroke="#000000" stroke-width="2"/>`);
	}
	return parts.join('');
}
