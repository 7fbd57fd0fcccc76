"""Hostile programs in Go; the first word of the command line chooses what one does."""

BOMBS = r"""
package main

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"
	"time"
)

func hog() {
	var kept [][]byte
	for {
		block := make([]byte, 1<<20)
		for n := range block {
			block[n] = 1
		}
		kept = append(kept, block)
	}
}

func fill(folder string) (total int) {
	block := make([]byte, 1<<16)
	for n := 0; n < 100; n++ {
		file, err := os.Create(fmt.Sprintf("%s/hostile-%d", folder, n))
		if err != nil {
			return
		}
		for size := 0; size < 8<<20; size += len(block) {
			wrote, err := file.Write(block)
			total += wrote
			if err != nil {
				return
			}
		}
		file.Close()
	}
	return
}

func figures() {
	bytes, shm := fill(".")+fill("/tmp"), fill("/dev/shm")
	for n := 0; n < 100; n++ {
		os.Remove(fmt.Sprintf("hostile-%d", n))
		os.Remove(fmt.Sprintf("/tmp/hostile-%d", n))
	}
	files, open := 0, 0
	for ; ; files++ {
		fd, err := syscall.Open(fmt.Sprintf("/tmp/hostile-empty-%d", files), syscall.O_CREAT, 0o600)
		if err != nil {
			break
		}
		syscall.Close(fd)
	}
	for {
		if _, err := syscall.Open("/dev/null", syscall.O_RDONLY, 0); err != nil {
			break
		}
		open++
	}
	fmt.Println("bytes", bytes, "shm", shm, "files", files, "open", open)
}

func again(what string) {
	command := exec.Command("/proc/self/exe", what)
	command.Stdout, command.Stderr = os.Stdout, os.Stderr
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := command.Start(); err != nil {
		fmt.Println(err)
	}
}

func pause() {
	wait := syscall.NsecToTimespec(1_000_000)
	syscall.RawSyscall(syscall.SYS_NANOSLEEP, uintptr(unsafePointer(&wait)), 0, 0)
}

func main() {
	switch os.Args[1] {
	case "fork":
		for {
			syscall.RawSyscall(syscall.SYS_FORK, 0, 0, 0)
		}
	case "memory":
		hog()
	case "memories":
		again("memory")
		again("memory")
		hog()
	case "loop":
		for {
		}
	case "sleep":
		time.Sleep(time.Hour)
	case "output":
		for {
			fmt.Println("hostile hostile hostile")
		}
	case "fill":
		figures()
	case "threads":
		for {
			go func() {
				runtime.LockOSThread()
				select {}
			}()
			runtime.Gosched()
		}
	case "survive":
		again("daemon")
		again("phoenix")
		time.Sleep(100 * time.Millisecond)
		fmt.Println("gone")
	case "daemon":
		signal.Ignore()
		time.Sleep(time.Hour)
	case "phoenix":
		for {
			if pid, _, _ := syscall.RawSyscall(syscall.SYS_FORK, 0, 0, 0); pid != 0 {
				syscall.RawSyscall(syscall.SYS_EXIT_GROUP, 0, 0, 0)
			}
			pause()
		}
	case "look":
		found := 0
		entries, _ := os.ReadDir("/proc")
		for _, entry := range entries {
			if _, err := strconv.Atoi(entry.Name()); err == nil {
				found++
			}
		}
		fmt.Println(found)
	case "ordinary":
		fmt.Println(6 * 7)
	}
}
""".replace("unsafePointer", "unsafe.Pointer").replace('"time"\n', '"time"\n\t"unsafe"\n')

# Reads calls, a line each: name, number, arguments (a number, s:text, or b:size of zeros).
CALLS = r"""
package main

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"unsafe"
)

var kept [][]byte

func argument(word string) uintptr {
	if strings.HasPrefix(word, "s:") {
		kept = append(kept, append([]byte(word[2:]), 0))
	} else if strings.HasPrefix(word, "b:") {
		size, _ := strconv.Atoi(word[2:])
		kept = append(kept, make([]byte, size))
	} else if strings.HasPrefix(word, "-") {
		number, _ := strconv.ParseInt(word, 0, 64)
		return uintptr(number)
	} else {
		number, _ := strconv.ParseUint(word, 0, 64)
		return uintptr(number)
	}
	return uintptr(unsafe.Pointer(&kept[len(kept)-1][0]))
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		words := strings.Split(lines.Text(), "\t")
		var a [6]uintptr
		for n, word := range words[2:] {
			a[n] = argument(word)
		}
		number, _ := strconv.Atoi(words[1])
		_, _, err := syscall.Syscall6(uintptr(number), a[0], a[1], a[2], a[3], a[4], a[5])
		fmt.Printf("%s\t%d\n", words[0], int(err))
	}
}
"""

REACH = r"""
package main

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func say(name string, err error) {
	if err == nil {
		fmt.Println(name, "ESCAPED")
	} else {
		fmt.Println(name, "contained")
	}
}

func read(path string) error {
	_, err := os.Open(path)
	return err
}

func reach(network, address string) error {
	_, err := net.DialTimeout(network, address, time.Second)
	return err
}

func dump(path string) {
	if text, err := os.ReadFile(path); err == nil {
		fmt.Println("DUMP", path, strings.ReplaceAll(string(text), "\x00", " "))
	}
}

func main() {
	secret, above := os.Args[4], strconv.Itoa(os.Getppid())
	for _, path := range []string{"/etc/passwd", "/etc/shadow", "/root", "/home", "/proc/1/environ",
		"/proc/1/mem", "/proc/1/maps", "/proc/1/fd", "/proc/kcore", "/sys/kernel", "/dev/mem",
		"/proc/" + above + "/mem", "/proc/" + above + "/environ"} {
		say(path, read(path))
	}
	say("read-secret", read(secret))
	for _, place := range []string{"", "/usr", "/etc", "/dev", "/run", "/var", "/proc", "/usr/bin",
		"/run/cache", "/usr/lib", "/root", "/home"} {
		say(place+"/hostile", os.WriteFile(place+"/hostile", nil, 0o600))
	}
	say("hostname", os.WriteFile("/proc/sys/kernel/hostname", []byte("x"), 0o600))
	say("port", reach("tcp", "127.0.0.1:"+os.Args[1]))
	say("metadata", reach("tcp", "169.254.169.254:80"))
	say("internet", reach("tcp", "1.1.1.1:53"))
	_, err := net.LookupHost("example.com")
	say("dns", err)
	say("abstract", reach("unix", "@"+os.Args[2]))
	say("unix", reach("unix", os.Args[3]))
	os.Symlink(secret, "/tmp/hostile-link")
	say("symlink", read("/tmp/hostile-link"))
	say("hardlink", os.Link("/usr/bin/true", "/tmp/hostile-hard"))
	say("device", syscall.Mknod("/tmp/hostile-device", syscall.S_IFCHR|0o600, 1<<8|1))
	say("mount", syscall.Mount("none", "/tmp", "tmpfs", 0, ""))
	say("user", syscall.Setuid(0))
	say("chroot", syscall.Chroot("/tmp"))
	dump("/proc/" + os.Args[5] + "/cmdline")
	entries, _ := os.ReadDir("/proc")
	for _, entry := range entries {
		if _, err := strconv.Atoi(entry.Name()); err == nil {
			for _, file := range []string{"environ", "cmdline", "mountinfo"} {
				dump("/proc/" + entry.Name() + "/" + file)
			}
		}
	}
	for _, each := range os.Environ() {
		fmt.Println("ENV", each)
	}
}
"""

# Mode 0 writes what the judge would; 1 answers itself and ends; 2 looks for what is expected.
FORGERY = r"""
package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"syscall"
)

const line = "{\"n\": 0, \"outcome\": \"passed\"}\n{\"verdict\": [\"passed\", \"\"]}\n"
const answer = "{\"value\": 1, \"args\": [], \"verdict\": [\"passed\", \"\"]}"

var wanted = regexp.MustCompile(`\b8392[0-9]{11}\b`)

var everywhere = func(text []byte) {
	for fd := 1; fd < 256; fd++ {
		syscall.Write(fd, text)
	}
}

var found = func(text []byte) int {
	number, _ := strconv.Atoi(string(bytes.TrimSpace(wanted.Find(text))))
	return number
}

var search = func() int {
	entries, _ := os.ReadDir("/proc")
	for _, entry := range entries {
		process := "/proc/" + entry.Name()
		pid, err := strconv.Atoi(entry.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		for _, file := range []string{"cmdline", "environ"} {
			text, _ := os.ReadFile(process + "/" + file)
			if number := found(text); number != 0 {
				return number
			}
		}
		maps, _ := os.ReadFile(process + "/maps")
		memory, err := os.Open(process + "/mem")
		if err != nil {
			continue
		}
		for _, area := range strings.Split(string(maps), "\n") {
			var start, end int64
			fmt.Sscanf(area, "%x-%x", &start, &end)
			text := make([]byte, end-start)
			memory.ReadAt(text, start)
			if number := found(text); number != 0 {
				return number
			}
		}
	}
	return 0
}

func F(mode int) int {
	if mode < 2 {
		everywhere([]byte(line))
	}
	if mode == 1 {
		frame := binary.BigEndian.AppendUint32(nil, uint32(len(answer)))
		everywhere(append(frame, answer...))
		os.Exit(0)
	}
	if mode == 2 {
		return search()
	}
	return 0
}

func main() {
	fmt.Println(search())
}
"""
