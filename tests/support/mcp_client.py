"""A client of `stackpack mcp`, as an agent's program is one."""
import json
import subprocess


class McpClient:
    """Starts the server, and asks it one question at a time."""

    def __init__(self, program, *arguments):
        self.process = subprocess.Popen([program, "mcp", *map(str, arguments)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.last_id = 0
        self.bytes = []  # of each answer's text
        self.request("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}})
        self.send(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}).encode())

    def send(self, line):
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def receive(self):
        return json.loads(self.process.stdout.readline())

    def request(self, method, params=None):
        """The result, or the error with its code."""
        self.last_id += 1
        self.send(json.dumps({"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params or {}}).encode())
        answer = self.receive()
        assert answer["id"] == self.last_id, answer
        return answer.get("result", answer.get("error"))

    def call(self, tool, **arguments):
        """The whole result of a tool."""
        result = self.request("tools/call", {"name": tool, "arguments": arguments})
        if "content" in result:
            self.bytes.append(len(result["content"][0]["text"].encode()))
        return result

    def ask(self, tool, **arguments):
        """The object that a tool answers; an error ends the test."""
        result = self.call(tool, **arguments)
        assert not result.get("isError", True), result
        return json.loads(result["content"][0]["text"])

    def close(self):
        self.process.stdin.close()
        rest = self.process.stdout.read()
        return self.process.wait(timeout=60), rest
