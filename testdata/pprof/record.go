// Writes every profile of Go's runtime, as profile.proto and, where there is one, as text (debug=1).
package main

import (
	"context"
	"os"
	"runtime"
	"runtime/pprof"
	"sync"
	"time"
)

var kept [][]byte

//go:noinline
func burn(until time.Time) uint64 {
	x := uint64(1)
	for time.Now().Before(until) {
		for i := 0; i < 10000; i++ {
			x = x*6364136223846793005 + 1
		}
	}
	return x
}

//go:noinline
func serve(route, user string, length time.Duration) {
	labels := pprof.Labels("route", route, "user", user)
	pprof.Do(context.Background(), labels, func(context.Context) { burn(time.Now().Add(length)) })
}

//go:noinline
func allocate(blocks, size int) {
	for i := 0; i < blocks; i++ {
		kept = append(kept, make([]byte, size))
	}
}

//go:noinline
func contend(lock *sync.Mutex, done *sync.WaitGroup) {
	defer done.Done()
	for i := 0; i < 5; i++ {
		lock.Lock()
		time.Sleep(2 * time.Millisecond)
		lock.Unlock()
	}
}

func write(folder, name string, debug int) {
	ending := map[int]string{0: ".pb.gz", 1: ".txt"}[debug]
	file, err := os.Create(folder + "/go." + name + ending)
	if err == nil {
		err = pprof.Lookup(name).WriteTo(file, debug)
	}
	if err != nil {
		panic(err)
	}
	file.Close()
}

func main() {
	folder := os.Args[1]
	runtime.MemProfileRate = 4096
	runtime.SetBlockProfileRate(1)
	runtime.SetMutexProfileFraction(1)
	cpu, err := os.Create(folder + "/go.cpu.pb.gz")
	if err != nil {
		panic(err)
	}
	if err := pprof.StartCPUProfile(cpu); err != nil {
		panic(err)
	}
	serve("/pay", "ada", 750*time.Millisecond)
	serve("/search", "bob", 540*time.Millisecond)
	serve("/search", "ada", 240*time.Millisecond)
	burn(time.Now().Add(100 * time.Millisecond))
	pprof.StopCPUProfile()
	cpu.Close()
	allocate(40, 3000)
	allocate(4, 100000)
	var lock sync.Mutex
	var done sync.WaitGroup
	for i := 0; i < 3; i++ {
		done.Add(1)
		go contend(&lock, &done)
	}
	done.Wait()
	runtime.GC()
	for _, name := range []string{"heap", "block", "mutex", "goroutine", "threadcreate"} {
		write(folder, name, 0)
		write(folder, name, 1)
	}
	runtime.KeepAlive(kept)
}
