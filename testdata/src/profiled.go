// Writes profiles of what it does, for testdata/foreign: profiled FOLDER.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"sync"
	"time"
)

var kept [][]byte

//go:noinline
func spin(until time.Time) (sum int) {
	for time.Now().Before(until) {
		for i := 0; i < 1000; i++ {
			sum += i * i
		}
	}
	return sum
}

//go:noinline
func keep(count int) {
	for i := 0; i < count; i++ {
		kept = append(kept, make([]byte, 4096))
	}
}

//go:noinline
func wait(lock *sync.Mutex) {
	lock.Lock()
	defer lock.Unlock()
	time.Sleep(time.Millisecond)
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func main() {
	runtime.MemProfileRate = 4096
	runtime.SetMutexProfileFraction(1)
	runtime.SetBlockProfileRate(1)
	file := func(name string) *os.File {
		made, err := os.Create(filepath.Join(os.Args[1], name))
		check(err)
		return made
	}
	cpu := file("go.cpu.pprof")
	check(pprof.StartCPUProfile(cpu))
	pprof.Do(context.Background(), pprof.Labels("phase", "spin"), func(context.Context) {
		spin(time.Now().Add(300 * time.Millisecond))
	})
	spin(time.Now().Add(100 * time.Millisecond))
	pprof.StopCPUProfile()
	check(cpu.Close())
	keep(300)
	var lock sync.Mutex
	var all sync.WaitGroup
	for i := 0; i < 4; i++ {
		all.Add(1)
		go func() {
			defer all.Done()
			wait(&lock)
		}()
	}
	all.Wait()
	for _, name := range []string{"heap", "mutex", "block", "goroutine", "threadcreate"} {
		to := file("go." + name + ".pprof")
		check(pprof.Lookup(name).WriteTo(to, 0))
		check(to.Close())
	}
	fmt.Println(len(kept))
}
