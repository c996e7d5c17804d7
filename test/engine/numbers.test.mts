import { getUsers, userGet } from '../support/parameters.mts';
import { http } from '../support/rawServer.mts';
import { useRawService } from '../support/service.mts';

/** Numbers in answers keep their digits. Numbers in requests: parameters.test.mts. */

let answer: string;
let contentType = 'application/json';
const { requests, run } = useRawService((_, socket) => {
	const headers = { 'Content-Type': contentType, 'Content-Length': `${answer.length}` };
	socket.end(http(200, headers, answer), 'latin1');
});

test('a number that JavaScript would round is text with its digits', async () => {
	answer = '{"status":"success","data":{"a":-9007199254740993,"b":1.50,"c":1e400}}';
	expect((await run(userGet('1'))).items).toEqual([{ a: '-9007199254740993', b: 1.5, c: '1e400' }]);
});

test('a cursor keeps its digits', async () => {
	answer = '{"status":"success","data":{"users":[{"id":1}],"next":12345678901234567891}}';
	const pagination = { mode: 'cursor', parameterName: 'after', cursorPath: 'data.next' };
	await run({ ...getUsers, options: { pagination: { pagination } } });
	expect(requests[1]!.path).toContain('after=12345678901234567891');
});

test('an answer is read in its character set, or is an error', async () => {
	answer = '{"status":"success","data":{"name":"m\xfcller"}}';
	const { error } = await run(userGet('1'));
	expect(error?.message).toBe("The response's text can't be decoded");
	contentType = 'application/json; charset=iso-8859-1';
	expect((await run(userGet('1'))).items).toEqual([{ name: 'müller' }]);
});
